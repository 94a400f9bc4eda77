import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [reactRouter()],
  build: {
    target: ['chrome111', 'edge111', 'firefox113', 'safari16.4'],
    // A font in a data: address cannot be preloaded or cached, and the security policy allows files only.
    assetsInlineLimit: 0,
  },
})
