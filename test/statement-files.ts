import type { Transfer } from './bank-files.ts'

/* The same transfers as statements of formats that say what each entry is. */

/** A transfer with what only some formats have. */
export interface StatementTransfer extends Transfer {
  /** The bank's own id; without it one by its place. */
  id?: string
  /** Takes an earlier one back. */
  isReversal?: boolean
  state?: 'pending' | 'info'
}

export const ownAccount = 'DE89370400440532013000'

const digits = (amount: number, mark = '.') => Math.abs(amount).toFixed(2).replace('.', mark)
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const idOf = (one: StatementTransfer, nth: number) => one.id ?? `B${one.date.replaceAll('-', '')}${nth}`
const compact = (date: string) => date.replaceAll('-', '')

interface StatementFormatFile {
  name: string
  write(transfers: StatementTransfer[], account?: { id: string; currency: string }): string
}

const usual = { id: ownAccount, currency: 'EUR' }

export const camt053: StatementFormatFile = {
  name: 'CAMT.053',
  write: (transfers, account = usual) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>${camtStatement(transfers, account)}</BkToCstmrStmt></Document>`,
}

/** A statement of one account, of which a document can hold several. */
export function camtStatement(transfers: StatementTransfer[], { id, currency }: { id: string; currency: string }): string {
  const entries = transfers.map((one, nth) => {
    const code = one.state === 'pending' ? 'PDNG' : one.state === 'info' ? 'INFO' : 'BOOK'
    const party = one.amount > 0 ? 'Dbtr' : 'Cdtr'
    return `<Ntry><Amt Ccy="${currency}">${digits(one.amount)}</Amt><CdtDbtInd>${one.amount > 0 ? 'CRDT' : 'DBIT'}</CdtDbtInd>${one.isReversal ? '<RvslInd>true</RvslInd>' : ''}<Sts><Cd>${code}</Cd></Sts><BookgDt><Dt>${one.date}</Dt></BookgDt><ValDt><Dt>${one.date}</Dt></ValDt><AcctSvcrRef>${idOf(one, nth)}</AcctSvcrRef>
<NtryDtls><TxDtls><RltdPties><${party}><Pty><Nm>${escaped(one.name)}</Nm></Pty></${party}></RltdPties><RmtInf><Ustrd>${escaped(one.purpose)}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`
  })
  return `<Stmt><Id>S</Id><Acct><Id><IBAN>${id}</IBAN></Id><Ccy>${currency}</Ccy></Acct>${entries.join('\n')}</Stmt>`
}

export const mt940: StatementFormatFile = {
  name: 'MT940',
  write: (transfers, { id, currency } = usual) => {
    const entries = transfers.map((one, nth) => {
      const side = one.amount > 0 ? 'C' : 'D'
      const mark = one.state === 'pending' ? `E${side}` : one.isReversal ? `R${one.amount > 0 ? 'D' : 'C'}` : side
      const day = compact(one.date)
      return `:61:${day.slice(2)}${day.slice(4)}${mark}${digits(one.amount, ',')}NTRFNONREF//${idOf(one, nth)}\r\n:86:166?00GUTSCHRIFT?20SVWZ+${one.purpose.slice(0, 22)}?21${one.purpose.slice(22, 49)}?32${one.name.slice(0, 27)}`
    })
    const sum = transfers.reduce((total, { amount, state }) => (state === undefined ? total + Math.round(amount * 100) : total), 0)
    const day = compact(transfers[0]?.date ?? '2026-01-01').slice(2)
    const closing = `${sum < 0 ? 'D' : 'C'}${day}${currency}${digits(sum / 100, ',')}`
    return `:20:STARTUMSE\r\n:25:${id}\r\n:28C:1/1\r\n:60F:C${day}${currency}0,00\r\n${entries.join('\r\n')}\r\n:62F:${closing}\r\n-\r\n`
  },
}

export const ofx: StatementFormatFile = {
  name: 'OFX',
  write: (transfers, { id, currency } = usual) => {
    const entries = transfers.map(
      (one, nth) =>
        `<STMTTRN>\n<TRNTYPE>${one.state === 'pending' ? 'HOLD' : one.amount > 0 ? 'CREDIT' : 'DEBIT'}\n<DTPOSTED>${compact(one.date)}120000\n<TRNAMT>${one.amount < 0 ? '-' : ''}${digits(one.amount)}\n<FITID>${idOf(one, nth)}\n<NAME>${escaped(one.name).slice(0, 32)}\n<MEMO>${escaped(one.purpose)}\n</STMTTRN>`,
    )
    return `OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\n\n<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS></SONRS></SIGNONMSGSRSV1><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>${currency}\n<BANKACCTFROM><ACCTID>${id}\n</BANKACCTFROM><BANKTRANLIST>\n${entries.join('\n')}\n</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n`
  },
}

/** Days are written day first, as Quicken does outside of the United States. */
export const qif: StatementFormatFile = {
  name: 'QIF',
  write: (transfers) =>
    `!Type:Bank\n${transfers
      .map(
        (one) =>
          `D${one.date.split('-').toReversed().join('/')}\nT${one.amount < 0 ? '-' : ''}${digits(one.amount)}\nP${one.name}\nM${one.purpose}\n^\n`,
      )
      .join('')}`,
}
