interface Waiting<In, Out> {
  asked: In
  resolve(answer: Out): void
  reject(error: unknown): void
}

/**
 * What costs much for each statement and little for each row, planning it and the disk's fsync, is paid once for all who ask at the same
 * time: a call begins at once while fewer than `atOnce` are under way, and goes along with the others that wait after that, at most `most`
 * together. `work` answers in the order it was asked; where it throws, each of them is told so.
 */
export function batch<In, Out>(
  limits: { atOnce: number; most: number },
  work: (asked: In[]) => Promise<Out[]>,
): (asked: In) => Promise<Out> {
  const waiting: Waiting<In, Out>[] = []
  let underWay = 0
  const next = (): void => {
    if (underWay >= limits.atOnce || waiting.length === 0) return
    const together = waiting.splice(0, limits.most)
    underWay += 1
    work(together.map(({ asked }) => asked))
      .then(
        (answers) => {
          for (const [at, answer] of answers.entries()) together[at]?.resolve(answer)
        },
        (error: unknown) => {
          for (const { reject } of together) reject(error)
        },
      )
      .finally(() => {
        underWay -= 1
        next()
      })
  }
  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject })
      next()
    })
}
