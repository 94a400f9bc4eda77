import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [reactRouter()],
  // While developing, the libraries of every screen are made ready before the first visit: one found later would make the page reload itself.
  optimizeDeps: { entries: ['web/**/*.{ts,tsx}', '!web/**/*.test.ts', '!web/routes.ts', '!web/entry.server.tsx'] },
  build: {
    target: ['chrome111', 'edge111', 'firefox113', 'safari16.4'],
    // A font in a data: address cannot be preloaded or cached, and the security policy allows files only.
    assetsInlineLimit: 0,
  },
})
