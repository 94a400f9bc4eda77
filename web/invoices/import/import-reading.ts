import type { Edits, InvoiceContext } from '#contract/import/invoice-file.ts'
import type { InvoiceReading } from '#contract/import/invoices.ts'
import type { Against, CheckedRow } from '#contract/import/lines.ts'
import type { Addresses } from '#contract/import/people.ts'
import type { SheetsOfFile } from '#web/ui/file-sheets.tsx'

/** What is asked of the worker that reads a file, and what it answers. `id`: of the request. */
export type ImportRequest = { id: number } & Asked

type Asked =
  | { do: 'open'; bytes: ArrayBuffer }
  | { do: 'read'; sheet: number; context: InvoiceContext; against: Against }
  | { do: 'addresses'; bytes: ArrayBuffer }

export type ImportAnswer = { id: number } & (
  | { do: 'open'; opened: OpenedFile | Unread }
  | { do: 'rows'; rows: ReadRow[] }
  | { do: 'read'; reading: ReadingOfSheet }
  | { do: 'addresses'; addresses: Addresses | null }
)

/** A checked row, with the texts of its fields where they can be corrected. */
export type ReadRow = CheckedRow & { written?: Edits[number] }

/** What is known of a sheet beside its rows. `there`: how many of its references invoices have already. */
export type ReadingOfSheet = Omit<InvoiceReading, 'rows'> & { there: number; missing: CheckedRow[] }

export type OpenedFile = Omit<SheetsOfFile, 'name'> & { kind: 'opened' }

export interface Unread {
  kind: 'unread'
  why: 'workbook' | 'unknown-encoding' | 'empty' | 'long-row' | 'too-long' | 'hidden' | 'unreadable' | 'slow'
}

/** A file that takes longer to open, in ms, is not read. */
const patience = 60_000

/** A list of invoices in its worker, until it is closed. */
export class ImportFileReader {
  readonly #worker = new Worker(new URL('./import-worker.ts', import.meta.url), { type: 'module' })
  readonly #waiting = new Map<number, (answer: ImportAnswer | null) => void>()
  #last = 0

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<ImportAnswer>) => this.#waiting.get(data.id)?.(data)
    // It died, of memory perhaps.
    this.#worker.onerror = () => this.#endAll()
  }

  close(): void {
    this.#worker.terminate()
    this.#endAll()
  }

  async open(file: File): Promise<OpenedFile | Unread> {
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

  /** Reads a sheet, and compares it with the invoices; null where the worker died. */
  read(sheet: number, context: InvoiceContext, against: Against): Promise<(ReadingOfSheet & { rows: ReadRow[] }) | null> {
    const rows: ReadRow[] = []
    return new Promise((resolve) => {
      this.#ask({ do: 'read', sheet, context, against }, [], (answer) => {
        if (answer?.do === 'rows') rows.push(...answer.rows)
        else resolve(answer?.do === 'read' ? { ...answer.reading, rows } : null)
        return answer?.do !== 'rows'
      })
    })
  }

  /** The clients of another file, with their addresses; null where it has none. */
  async addresses(file: File): Promise<Addresses | null> {
    const bytes = await file.arrayBuffer().catch(() => null)
    if (bytes === null) return null
    return new Promise((resolve) => {
      this.#ask({ do: 'addresses', bytes }, [bytes], (answer) => {
        resolve(answer?.do === 'addresses' ? answer.addresses : null)
        return true
      })
    })
  }

  #ask(request: Asked, transfer: ArrayBuffer[], hear: (answer: ImportAnswer | null) => boolean): void {
    this.#last += 1
    const id = this.#last
    this.#waiting.set(id, (answer) => {
      if (hear(answer)) this.#waiting.delete(id)
    })
    this.#worker.postMessage({ ...request, id }, transfer)
  }

  #endAll(): void {
    for (const tell of this.#waiting.values()) tell(null)
  }
}
