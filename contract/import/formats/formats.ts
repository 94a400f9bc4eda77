import type { StatementFormat } from '#contract/import/statement.ts'

/** What is known about a format that is read. */
interface FormatFacts {
  name: StatementFormat
  /** What banks call it in their downloads. */
  title: string
  versions: string
  /** What a file is recognised by; never by its name. */
  recognisedBy: string
  /** What the format does not define, so that it is asked. */
  asks: string | null
}

/** Every format whose meaning the format defines, in the order of the documentation. */
export const statementFormats: readonly FormatFacts[] = [
  {
    name: 'CAMT.053',
    title: 'Account statement, ISO 20022',
    versions: 'camt.053.001.01 to .14, also several in a ZIP archive',
    recognisedBy: 'XML whose namespace is camt.053, or whose message is BkToCstmrStmt',
    asks: null,
  },
  {
    name: 'CAMT.052',
    title: 'Account report within the day, ISO 20022',
    versions: 'camt.052.001.01 to .14, also several in a ZIP archive',
    recognisedBy: 'XML whose namespace is camt.052, or whose message is BkToCstmrAcctRpt',
    asks: null,
  },
  {
    name: 'CAMT.054',
    title: 'Notice of single credits and debits, ISO 20022',
    versions: 'camt.054.001.01 to .14, also several in a ZIP archive',
    recognisedBy: 'XML whose namespace is camt.054, or whose message is BkToCstmrDbtCdtNtfctn',
    asks: null,
  },
  {
    name: 'MT940',
    title: 'Account statement, SWIFT (also .sta, .940 and .swi)',
    versions: 'with and without the envelopes of SWIFT; field 86 in the forms of Germany, the Netherlands and SWIFT',
    recognisedBy: 'the fields :20:, :25:, :28C: and :60F: or :60M:',
    asks: null,
  },
  {
    name: 'MT942',
    title: 'Account report within the day, SWIFT',
    versions: 'as MT940',
    recognisedBy: 'the fields :20:, :25:, :28C:, and :34F: or :13D:',
    asks: null,
  },
  {
    name: 'OFX',
    title: 'Open Financial Exchange, also called Microsoft Money',
    versions: '1.0 to 1.6 (SGML) and 2.0 to 2.3 (XML)',
    recognisedBy: 'the header OFXHEADER, or the element OFX',
    asks: null,
  },
  {
    name: 'QFX',
    title: 'Quicken Web Connect',
    versions: 'OFX with the element INTU.BID',
    recognisedBy: 'as OFX, with INTU.BID in the sign-on response',
    asks: null,
  },
  {
    name: 'QIF',
    title: 'Quicken Interchange Format',
    versions: '!Type:Bank, !Type:CCard, !Type:Cash and other accounts',
    recognisedBy: 'a first line that begins with !Type:, !Account or !Option:',
    asks: 'The order of day and month, and the currency.',
  },
]
