import type { Config } from '@react-router/dev/config'

/** The client is static files: public pages and the dashboard's frame are prerendered, all other screens start from the fallback page. */
export default {
  appDirectory: 'web',
  buildDirectory: 'build',
  ssr: false,
  prerender: ['/', '/features', '/pricing', '/contact', '/privacy', '/signin', '/signup', '/dashboard'],
} satisfies Config
