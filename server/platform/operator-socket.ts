import { once } from 'node:events'
import { rmSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { z } from 'zod'
import type { Log } from './log.ts'

/** What a command of the operator's came to: lines for the terminal, and the exit code. */
export interface CommandResult {
  lines: string[]
  code: number
}

export interface OperatorSocket {
  close(): Promise<void>
}

const asked = z.object({ args: z.array(z.string()) })
const said = z.object({ lines: z.array(z.string()), code: z.number().int() })
/** sun_path holds 104 bytes on the shortest system, its end included (unix(4)). */
const longestPath = 103

/**
 * Takes commands from the owner of the data folder only: a socket of mode 0600. One JSON value comes, one goes
 * back. Call it only while holding the folder's lock: a socket that is there already is a dead process's.
 */
export async function openOperatorSocket(
  dataDir: string,
  log: Log,
  run: (args: string[]) => Promise<CommandResult>,
): Promise<OperatorSocket> {
  const place = placeOf(dataDir)
  if (Buffer.byteLength(place) > longestPath) {
    log.warn({ place }, 'The path of the data folder is too long for a socket: stop Duely before you use npm run duely.')
    return { close: async () => undefined }
  }
  rmSync(place, { force: true })
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    void answer(socket, run).catch((error: unknown) => {
      log.error({ err: error }, 'An operator command failed.')
      socket.end(JSON.stringify({ lines: ['The command failed. The log of Duely has the error.'], code: 1 } satisfies CommandResult))
    })
  })
  // The umask applies to the socket's creation, so there is no moment with a wider mode.
  const before = process.umask(0o177)
  try {
    server.listen(place)
  } finally {
    process.umask(before)
  }
  await once(server, 'listening')
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function answer(socket: net.Socket, run: (args: string[]) => Promise<CommandResult>): Promise<void> {
  const { args } = asked.parse(JSON.parse(await readAll(socket)))
  socket.end(JSON.stringify(await run(args)))
}

/** Hands a command to the process that runs on this folder; null where none does. */
export async function runInServer(dataDir: string, args: string[]): Promise<CommandResult | null> {
  const place = placeOf(dataDir)
  if (Buffer.byteLength(place) > longestPath) return null
  const socket = net.connect({ path: place, allowHalfOpen: true })
  try {
    await once(socket, 'connect')
  } catch {
    return null
  }
  socket.end(JSON.stringify({ args }))
  return said.parse(JSON.parse(await readAll(socket)))
}

/** Everything that the other side writes until it ends; this side may still write. */
function readAll(socket: net.Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      text += String(part)
    })
    socket.once('end', () => resolve(text))
    socket.once('error', reject)
  })
}

function placeOf(dataDir: string): string {
  return path.join(dataDir, 'duely.sock')
}
