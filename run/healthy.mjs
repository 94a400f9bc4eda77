// The HEALTHCHECK of the image: 0 where this container's Duely can serve. A worker without PORT listens to nothing, so its process counts.
const { ROLE, PORT } = process.env
if (ROLE === 'worker' && !PORT) process.exit(0)
const answered = await fetch(`http://127.0.0.1:${PORT ?? 3000}/health`, { signal: AbortSignal.timeout(4_000) }).catch(() => null)
process.exit(answered?.ok ? 0 : 1)
