/* What a bank's file says about money, in one shape for every format whose meaning the format itself defines. */

/** A format that is read, as `formats/formats.ts` describes it. */
export type StatementFormat = 'CAMT.052' | 'CAMT.053' | 'CAMT.054' | 'MT940' | 'MT942' | 'OFX' | 'QFX' | 'QIF'

export interface StatementAccount {
  /** IBAN or number, without spaces; null where the file names none. */
  id: string | null
  currency: string | null
  name: string | null
  /** Whether the format says that it is the account of a credit card: what comes in there is no client's payment. */
  isCard: boolean
}

/**
 * One movement of money. What the file does not prove is null, and is a question: nothing is filled in from elsewhere. Texts are the bank's own words,
 * without control characters, and not shortened.
 */
export interface StatementEntry {
  /** The index of its account in the file's accounts. */
  account: number
  /** The booking date, `YYYY-MM-DD`. */
  booked: string | null
  /** The value date. */
  valued: string | null
  /** A date in digits whose order the format does not prove, as in QIF: `03/05/2026`. Then `booked` is null. */
  dateText: string | null
  /** Digits, with a point before decimals, without a sign: `1234.50`. It can be 0. */
  amount: string
  /** The amount as written, where it can be another one too, such as 1,234: a question. */
  amountText: string | null
  currency: string | null
  /** Whether the account has more or less afterwards, also for a reversal. */
  direction: 'in' | 'out'
  /** `info` is no movement of money. Null: the file has a word that the format does not define, in `stateText`. */
  state: 'booked' | 'pending' | 'info' | null
  stateText: string | null
  /** Takes an earlier entry back: money in is then no payment, and money out cancels one. */
  reversal: boolean
  /** Why a transfer or direct debit came back, in the file's words, or its code; null where the entry is no return. */
  returned: string | null
  /** The bank's own id of the entry or transaction. */
  bankId: string | null
  endToEndId: string | null
  /** Structured references (RF, KID, QR, OGM) as written, then other references of the payer or the bank. None twice. */
  references: string[]
  /** The other party: who paid, for money in. */
  name: string | null
  iban: string | null
  /** What the payer wrote, else what the bank wrote. */
  text: string
  /** What was sent, where it is in another currency than the account. */
  original: { amount: string; currency: string } | null
  /** Charges that the bank took, where the file names them beside the amount. */
  charges: { amount: string; currency: string | null } | null
  /** The kind of transaction by the codes of the format: `PMNT/RCDT/ESCT`, `NTRF 166`, `DEP`. */
  code: string | null
  /** Why a person must look at this entry before it is used, in a sentence. */
  unclear: string | null
  /** What the file says, as written; at most 4,000 characters. */
  raw: string
  /** Where: `line 12`, in an archive `june.xml, line 12`. */
  position: string
}

export interface StatementFile {
  kind: 'statement'
  /** One format; several where an archive has files of several. */
  formats: StatementFormat[]
  accounts: StatementAccount[]
  entries: StatementEntry[]
  /** What was left out or does not add up, in sentences. */
  notes: string[]
}

/** A file of a known kind that cannot be read, with what to do instead. Nothing of it is used. */
export interface RefusedFile {
  kind: 'refused'
  message: string
}
