/*
 * Files of six banks, in the form that public sources describe: HDFC Bank in firefly-iii/import-configurations#138, ICICI Bank and State Bank
 * of India in the formats of FFFSTANZA/SharaLedger (docs/INDIAN_BANK_FORMATS.md) and in files that importers are tested with, Deutsche Bank in
 * firefly-iii/import-configurations (de/deutschebank), Chase in mtlynch/beancount-chase-bank, Barclays in the header that importers know it
 * by: Number,Date,Account,Amount,Subcategory,Memo.
 */

export interface Transfer {
  /** `YYYY-MM-DD`. */
  date: string
  /** Below 0 where it went out. */
  amount: number
  /** Of the other party. */
  name: string
  /** What the payer wrote: often the number of an invoice. */
  purpose: string
}

interface BankFormat {
  name: string
  currency: string
  write(transfers: Transfer[]): ArrayBuffer
}

const utf8 = (lines: string[], end = '\n') => bytesOf(new TextEncoder().encode(lines.join(end) + end))

/** Western letters as Windows writes them. */
export function latin1(text: string): ArrayBuffer {
  return bytesOf(Uint8Array.from(text, (letter) => letter.charCodeAt(0)))
}

/** As Excel saves “Unicode text”. */
export function utf16(text: string): ArrayBuffer {
  const units = Uint16Array.from(`\uFEFF${text}`, (letter) => letter.charCodeAt(0))
  return bytesOf(new Uint8Array(units.buffer))
}

function bytesOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}

const parts = (date: string) => {
  const [year = '', month = '', day = ''] = date.split('-')
  return { year, month, day }
}
const slashed = (date: string) => date.split('-').reverse().join('/')
const plain = (amount: number) => Math.abs(amount).toFixed(2)
const figures = (nth: number, length: number) => String(nth * 7_919 + 104_729).padStart(length, '4')

/** 1.250,50 and 750: whole amounts have no decimals. */
function german(amount: number): string {
  const [whole = '', cents] = Math.abs(amount).toFixed(2).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '.')
  return `${amount < 0 ? '-' : ''}${grouped}${cents === '00' ? '' : `,${cents}`}`
}

export const banks: BankFormat[] = [
  {
    name: 'HDFC Bank',
    currency: 'INR',
    write: (transfers) =>
      utf8([
        '',
        '  Date     ,Narration                                                 ,Value Dat,Debit Amount       ,Credit Amount      ,Chq/Ref Number   ,Closing Balance',
        ...transfers.map(({ date, amount, name, purpose }, nth) => {
          const { year, month, day } = parts(date)
          const short = `${day}/${month}/${year.slice(2)}`
          const to = `NEFT ${amount < 0 ? 'DR' : 'CR'}-SBIN000${7_000 + nth}-${name.toUpperCase()}-ASHA TRADERS-${purpose}-SBINN52026${figures(nth, 9)}`
          const [out, into] = amount < 0 ? [plain(amount), '0.00'] : ['0.00', plain(amount)]
          return ` ${short}  ,${to.padEnd(60)},${short} ,      ${out}     ,      ${into}     ,0000${figures(nth, 12)}       ,    ${plain(90_000)}  `
        }),
      ]),
  },
  {
    name: 'ICICI Bank',
    currency: 'INR',
    write: (transfers) =>
      utf8(
        [
          ',DETAILED STATEMENT,,,,,,',
          ',,,,,,,',
          ',Search,,,,,,',
          ',Account Number,,000405001234 ( INR ) - ASHA TRADERS,,,,',
          ',Transaction Date from,,01/02/2026,to,02/03/2026,,',
          ',Transaction Period,,- Last N days -,,,,',
          ',Amount from,,,to,,,',
          ',Cheque number from,,,to,,,',
          ',Transaction remarks,,,,,,',
          ',Transaction type,,All,,,,',
          ',Transactions List - ASHA TRADERS (INR) - 000405001234,,,,,,',
          ',S No.,Value Date,Transaction Date,Cheque Number,Transaction Remarks,Withdrawal Amount (INR ),Deposit Amount (INR ),Balance (INR )',
          ...transfers.map(({ date, amount, name, purpose }, nth) => {
            const remarks = `UPI/6061${figures(nth, 8)}/${purpose}/${name.split(' ')[0]?.toLowerCase()}@okaxis/Axis Bank/`
            const [out, into] = amount < 0 ? [plain(amount), '0'] : ['0', plain(amount)]
            return `,${nth + 1},${slashed(date)},${slashed(date)},-,"${remarks}",${out},${into},${plain(90_000)}`
          }),
          ',,,,,,,,',
          ',Legends Used in Account Statement,,,,,,,',
        ],
        '\r\n',
      ),
  },
  {
    name: 'State Bank of India',
    currency: 'INR',
    write: (transfers) => {
      const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
      return utf8(
        [
          'Account Name       :\tASHA TRADERS',
          'Address            :\t12, MG ROAD',
          'Date               :\t2 Mar 2026',
          'Account Number     :\t_00000031990400000',
          'Drawing Power      :\t0.00',
          'Interest Rate(% p.a.)  :\t2.5',
          'IFS Code           :\t_SBIN0000197',
          'Balance on 1 Feb 2026       :\t1,118.30',
          'Start Date         :\t1 Feb 2026',
          'End Date           :\t2 Mar 2026',
          '',
          'Txn Date\tValue Date\tDescription\tRef No./Cheque No.\t        Debit\tCredit\tBalance',
          ...transfers.map(({ date, amount, name, purpose }, nth) => {
            const { year, month, day } = parts(date)
            const spoken = `${Number(day)} ${months[Number(month) - 1]} ${year}`
            const grouped = Math.abs(amount).toLocaleString('en-IN', { minimumFractionDigits: 2 })
            const text = `   ${amount < 0 ? 'TO' : 'BY'} TRANSFER-INB ${purpose.replace('-', ' ')}   ${name}--`
            const reference = `TRANSFER ${amount < 0 ? 'TO' : 'FROM'} 3199${figures(nth, 6)}`
            return `${spoken}\t${spoken}\t${text}\t${reference}\t${amount < 0 ? grouped : ' '}\t${amount < 0 ? ' ' : grouped}\t90,000.00`
          }),
          '',
          '**This is a computer generated statement and does not require a signature',
        ],
        '\r\n',
      )
    },
  },
  {
    name: 'Barclays',
    currency: 'GBP',
    // A reference of at most 18 characters behind the name.
    write: (transfers) =>
      utf8([
        'Number,Date,Account,Amount,Subcategory,Memo',
        ...transfers.map(({ date, amount, name, purpose }) => {
          const memo = `${name.toUpperCase().slice(0, 18)}\t${purpose.slice(0, 18)} ${amount < 0 ? 'BBP' : 'BGC'}`
          return `\t,${slashed(date)},20-00-00 12345678,${amount.toFixed(2)},${amount < 0 ? 'Bill Payment' : 'Counter Credit'},${memo}`
        }),
      ]),
  },
  {
    name: 'Deutsche Bank',
    currency: 'EUR',
    write: (transfers) =>
      latin1(
        [
          'Umsätze',
          'Konto;Filial-/Kontonummer;IBAN;Währung',
          'AktivKonto;123 1234567 00;DE89370400440532013000;EUR',
          '',
          '1.2.2026 - 2.3.2026',
          'Letzter Kontostand;;;;2.500,00;EUR',
          'Vorgemerkte und noch nicht gebuchte Umsätze sind nicht Bestandteil dieser Übersicht.',
          'Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;IBAN / Kontonummer;BIC;Kundenreferenz;Mandatsreferenz;Gläubiger ID;Fremde Gebühren;Betrag;Abweichender Empfänger;Anzahl der Aufträge;Anzahl der Schecks;Soll;Haben;Währung',
          ...transfers.map(({ date, amount, name, purpose }) => {
            const { year, month, day } = parts(date)
            const short = `${Number(day)}.${Number(month)}.${year}`
            const kind = amount < 0 ? 'SEPA Überweisung' : 'SEPA Gutschrift'
            const [out, into] = amount < 0 ? [german(amount), ''] : ['', german(amount)]
            return `${short};${short};${kind};${name};Rechnung ${purpose} SVWZ+;DE02120300000000202051;BYLADEM1001;NOTPROVIDED;;;;${german(amount)};;;;${out};${into};EUR`
          }),
          'Kontostand;2.3.2026;;;1.200,00;EUR',
          '',
        ].join('\r\n'),
      ),
  },
  {
    name: 'Chase',
    currency: 'USD',
    write: (transfers) =>
      utf8([
        'Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #',
        // The newest first, with a comma behind each line.
        ...transfers.toReversed().map(({ date, amount, name, purpose }, nth) => {
          const { year, month, day } = parts(date)
          const text = `ORIG CO NAME:${name.toUpperCase()} ORIG ID:9${figures(nth, 9)} DESC DATE:260302 CO ENTRY DESCR:INVOICE ${purpose.replace('-', '')} SEC:CCD TRACE#:0210000${figures(nth, 8)}`
          const kind = amount < 0 ? ['DEBIT', 'ACH_DEBIT'] : ['CREDIT', 'ACH_CREDIT']
          return `${kind[0]},${month}/${day}/${year},"${text}",${amount.toFixed(2)},${kind[1]},${plain(90_000)},,`
        }),
      ]),
  },
]
