/** Places between two steps of sending a mail where a process can be told to die, so that what comes of it can be tried out. */
export const failPointNames = ['claim', 'before-mail', 'after-dot', 'after-250', 'before-commit'] as const
export type FailPointName = (typeof failPointNames)[number]

export interface ArmedFailPoint {
  name: FailPointName
  /** How likely the process dies each time it comes by, above 0 and at most 1. */
  chance: number
}

let armed: ArmedFailPoint | null = null

/** Called once at start. The configuration refuses it where NODE_ENV is production. */
export function armFailPoint(given: ArmedFailPoint | null): void {
  armed = given
}

/** Ends this process as `kill -9` would, where it was started with FAILPOINT of this name; anywhere else it does nothing. */
export function failPoint(name: FailPointName): void {
  if (armed?.name === name && Math.random() < armed.chance) process.kill(process.pid, 'SIGKILL')
}
