import { mostLines, type RecordedPayment } from '#contract/bank-file.ts'
import type { BankContext, BankReading, BankRow, ReadLine, TakenBack } from '#contract/import/bank.ts'
import type { RefusedFile, StatementFormat } from '#contract/import/statement.ts'

/** What is asked of the worker that reads a file, and what it answers. `id`: of the request. */
export type BankRequest = { id: number } & Asked

type Asked =
  | { do: 'open'; bytes: ArrayBuffer }
  | { do: 'read'; sheet: number; context: BankContext; mostLines: number }
  | { do: 'cells'; sheet: number; row: number }
  | { do: 'returns'; recorded: RecordedPayment[] }

export type BankAnswer = { id: number } & (
  | { do: 'open'; opened: OpenedFile | Unread | RefusedFile }
  | { do: 'rows'; rows: BankRow[]; lines: ReadLine[] }
  | { do: 'read'; reading: Omit<BankReading, 'rows'>; calls: number[] }
  | { do: 'cells'; cells: Cell[] }
  | { do: 'returns'; takenBack: TakenBack }
)

/** What a file says, with its payments by the numbers of their rows, and in the parts that one call takes. */
export interface ReadFile extends BankReading {
  lines: ReadonlyMap<number, ReadLine>
  calls: ReadLine[][]
}

export interface Cell {
  heading: string
  cell: string
}

/** The sheets of a file that has some. */
export interface OpenedFile {
  kind: 'opened'
  sheets: { name: string | null; rows: number; hiddenRows: number[]; isTable: boolean }[]
  hiddenSheets: string[]
  /** Of a statement: its formats, and the names of its accounts. It has one sheet. */
  statement: { formats: StatementFormat[]; accounts: string[] } | null
}

export interface Unread {
  kind: 'unread'
  why: 'workbook' | 'unknown-encoding' | 'empty' | 'long-row' | 'too-long' | 'hidden' | 'unreadable' | 'slow'
}

/** A file that takes longer to open, in ms, is not read. */
const patience = 60_000

/** A file in its worker, until it is closed. */
export class BankFileReader {
  readonly #worker = new Worker(new URL('./bank-worker.ts', import.meta.url), { type: 'module' })
  readonly #waiting = new Map<number, (answer: BankAnswer | null) => void>()
  #last = 0

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<BankAnswer>) => this.#waiting.get(data.id)?.(data)
    // It died, of memory perhaps.
    this.#worker.onerror = () => {
      for (const tell of this.#waiting.values()) tell(null)
    }
  }

  close(): void {
    this.#worker.terminate()
    for (const tell of this.#waiting.values()) tell(null)
  }

  async open(file: File): Promise<OpenedFile | Unread | RefusedFile> {
    const bytes = await file.arrayBuffer().catch(() => null)
    if (bytes === null) return { kind: 'unread', why: 'unreadable' }
    return new Promise((resolve) => {
      const slow = setTimeout(() => resolve({ kind: 'unread', why: 'slow' }), patience)
      this.#ask({ do: 'open', bytes }, [bytes], (answer) => {
        clearTimeout(slow)
        resolve(answer?.do === 'open' ? answer.opened : { kind: 'unread', why: 'workbook' })
        return true
      })
    })
  }

  /** Reads a sheet. A request before it that is not answered yet is answered all the same. */
  read(sheet: number, context: BankContext): Promise<ReadFile | null> {
    const rows: BankRow[] = []
    const all: ReadLine[] = []
    return new Promise((resolve) => {
      this.#ask({ do: 'read', sheet, context, mostLines }, [], (answer) => {
        if (answer?.do === 'rows') {
          rows.push(...answer.rows)
          all.push(...answer.lines)
        } else if (answer?.do === 'read') {
          const lines = new Map(all.map((line) => [line.number, line]))
          const calls = answer.calls.map((length, at) => {
            const from = answer.calls.slice(0, at).reduce((sum, before) => sum + before, 0)
            return all.slice(from, from + length)
          })
          resolve({ ...answer.reading, rows, lines, calls })
        } else resolve(null)
        return answer?.do !== 'rows'
      })
    })
  }

  /** The cells of a row as the file has them. */
  cells(sheet: number, row: number): Promise<Cell[]> {
    return new Promise((resolve) => {
      this.#ask({ do: 'cells', sheet, row }, [], (answer) => {
        resolve(answer?.do === 'cells' ? answer.cells : [])
        return true
      })
    })
  }

  /** What rows of the last reading take back of these payments. */
  returns(recorded: RecordedPayment[]): Promise<TakenBack> {
    return new Promise((resolve) => {
      this.#ask({ do: 'returns', recorded }, [], (answer) => {
        resolve(answer?.do === 'returns' ? answer.takenBack : new Map())
        return true
      })
    })
  }

  #ask(request: Asked, transfer: ArrayBuffer[], hear: (answer: BankAnswer | null) => boolean): void {
    this.#last += 1
    const id = this.#last
    this.#waiting.set(id, (answer) => {
      if (hear(answer)) this.#waiting.delete(id)
    })
    this.#worker.postMessage({ ...request, id }, transfer)
  }
}
