/** Steps of sending an email at which a process can kill itself, to test recovery. */
export const failPointNames = ['claim', 'before-mail', 'after-dot', 'after-250', 'before-commit'] as const
type FailPointName = (typeof failPointNames)[number]

export interface ArmedFailPoint {
  name: FailPointName
  /** Probability per pass, above 0 and at most 1. */
  chance: number
}

let armed: ArmedFailPoint | null = null

/** The configuration refuses it where NODE_ENV is production. */
export function armFailPoint(given: ArmedFailPoint | null): void {
  armed = given
}

/** Kills this process like `kill -9` if it was started with FAILPOINT of this name. */
export function failPoint(name: FailPointName): void {
  if (armed?.name === name && Math.random() < armed.chance) process.kill(process.pid, 'SIGKILL')
}
