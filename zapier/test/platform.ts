import { type Bundle, createAppHandler } from 'zapier-platform-core'
import app from '../index.js'

declare module 'zapier-platform-core' {
  /** Zapier's runner. `validate` is used by `zapier validate`; `execute` runs the part of the app that `method` names. */
  export function createAppHandler(app: object): (event: PlatformEvent) => Promise<{ results: unknown }>
}

type PlatformEvent = { command: 'validate' } | { command: 'execute'; method: string; bundle: object }

/** The input that Zapier passes to an app. */
export type Handed = Partial<Pick<Bundle, 'authData' | 'inputData' | 'targetUrl' | 'subscribeData' | 'cleanedRequest'>>

/** Runs a part of the app, as Zapier does. */
export async function play(method: string, bundle: Handed): Promise<unknown> {
  return (await createAppHandler(app)({ command: 'execute', method, bundle })).results
}

/** The platform's errors in an app's definition. */
export async function validate(definition: object): Promise<unknown> {
  return (await createAppHandler(definition)({ command: 'validate' })).results
}
