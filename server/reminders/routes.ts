import type { App } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'

export function reminderRoutes(_app: App, _deps: Deps): void {}
