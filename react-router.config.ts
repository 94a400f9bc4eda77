import type { Config } from '@react-router/dev/config'

/** The client is files only: the public pages and the frame of the dashboard are written at build time, everything else starts from the fallback page. */
export default {
  appDirectory: 'web',
  buildDirectory: 'build',
  ssr: false,
  prerender: ['/', '/features', '/pricing', '/contact', '/signin', '/signup', '/dashboard'],
} satisfies Config
