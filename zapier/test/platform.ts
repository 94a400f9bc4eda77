import { type Bundle, createAppHandler } from 'zapier-platform-core'
import app from '../index.js'

declare module 'zapier-platform-core' {
  /** What Zapier runs an app with. `validate` is what `zapier validate` asks; `execute` runs the part of the app that `method` names. */
  export function createAppHandler(app: object): (event: PlatformEvent) => Promise<{ results: unknown }>
}

type PlatformEvent = { command: 'validate' } | { command: 'execute'; method: string; bundle: object }

/** What an app is handed by Zapier. */
export type Handed = Partial<Pick<Bundle, 'authData' | 'inputData' | 'targetUrl' | 'subscribeData' | 'cleanedRequest'>>

/** Runs a part of the app, as Zapier does. */
export async function play(method: string, bundle: Handed): Promise<unknown> {
  return (await createAppHandler(app)({ command: 'execute', method, bundle })).results
}

/** What the platform finds wrong with an app. */
export async function validate(definition: object): Promise<unknown> {
  return (await createAppHandler(definition)({ command: 'validate' })).results
}
