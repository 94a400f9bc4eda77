import { list, words, wordsOf } from './headings.ts'

/* What banks call their columns, and the words in them, in the languages that Duely writes in and those of banks nearby. As `headingOf` writes them. */

/** What a column of a bank file is. */
export type BankColumn =
  | 'booked'
  | 'date'
  | 'valued'
  | 'begun'
  | 'otherDate'
  | 'amount'
  | 'gross'
  | 'net'
  | 'in'
  | 'out'
  | 'both'
  | 'foreign'
  | 'fee'
  | 'otherAmount'
  | 'balance'
  | 'direction'
  | 'kind'
  | 'state'
  | 'reversal'
  | 'description'
  | 'reference'
  | 'name'
  | 'currency'
  | 'bankId'
  | 'account'
  | 'other'

/** Headings as a whole. */
const whole = new Map<string, BankColumn>()
const called = (column: BankColumn, headings: string) => {
  for (const one of list(headings)) whole.set(one, column)
}

called(
  'booked',
  `booking date | booked | booked date | booked on | posting date | posted date | post date | posted | posted on | date posted | date booked | entry date | completed date | completion date
  date completed | completed on | completed | settlement date | settled at | processed date | date processed | processing date | transaction posted date | booking | buchungstag | buchungsdatum | buchung | buchtag | datum buchung
  date comptable | date de comptabilisation | date comptabilisation | date de compta | date d enregistrement | date de debut d operation
  fecha contable | f contable | fecha de contabilizacion | fecha asiento | fecha de asiento | fecha apunte
  data contabile | data contabilizzazione | data registrazione | data de lancamento | data lancamento | data lanc | data do lancamento | data contabilistica
  boekdatum | boekingsdatum | datum boeking | transactiedatum boeking | boekingsdag | date d execution boekingsdatum
  bokforingsdag | bokforingsdatum | bokfort | bokforingsdato | bokfort dato | bogforingsdato | bogfort | kirjauspaiva | kirjauspvm | data ksiegowania | datum zauctovani | konyveles datuma | लेखा तिथि`,
)
called(
  'date',
  `date | transaction date | txn date | tran date | trans date | date of transaction | transaction date time | transaction time | date time | datetime | date and time | trade date
  operation date | date operation | date of operation | entry | payment date | date of payment | datum | datum transaktion | transaktionsdatum | tag | date de transaction | date transaction | date de l operation | date d operation
  date op | date operation | date de la transaction | fecha | fecha operacion | fecha de operacion | f operacion | fecha de la operacion | fecha movimiento | fecha de movimiento | fecha transaccion | fecha de transaccion | dia
  data | data operazione | data movimento | data mov | data transazione | data da transacao | data transacao | data do movimento | data da operacao | data operacao | data hora
  transactiedatum | datum transactie | uitvoeringsdatum | datum tijd | dato | transaktionsdag | transaktionsdato | transaktionsdatum | betalningsdatum | betalingsdato | maksupaiva | tapahtumapaiva | pvm | kuupaev | data operacji | data transakcji
  datum operace | datum provedeni | terhelesi datum | tranzakcio datuma | ημερομηνια | tarih | islem tarihi | tanggal | תאריך | 日付 | 取引日 | 年月日 | お取引日 | 交易日期 | 交易日 | 거래일시 | 거래일자 | 거래일 | दिनांक | तारीख | तिथि | लेनदेन की तारीख`,
)
called(
  'valued',
  `value date | val date | value dat | value dt | valuta | valutadatum | valuta date | value | date value | effective date | date of value | wert | wertstellung | wertstellungsdatum | wertstellungstag | valutatag | valuta datum
  date de valeur | date valeur | date val | valeur | fecha valor | f valor | fecha de valor | valor fecha | f valuta | data valuta | data valor | data de valor | rentedatum | valutadag | renteberekening | valutadato | rentedato | arvopaiva | maksupaiva arvopaiva | data waluty | मूल्य तिथि`,
)
called(
  'begun',
  `started date | start date | created | created at | created on | created date | created utc | date created | date created utc | initiated | initiated date | initiated on | transaction started`,
)
called(
  'amount',
  `amount | amt | transaction amount | txn amount | tran amount | account amount | amount in account currency | booked amount | booking amount | payment amount | sum | total amount | value amount
  betrag | umsatz | umsatzbetrag | buchungsbetrag | betrag in kontowahrung | montant | montant de l operation | montant operation | importe | importe operacion | importe de la operacion | importe movimiento | monto | valor | valor lancamento | quantia | importo | importo operazione | importo movimento
  bedrag | bedrag transactie | transactiebedrag | belopp | belop | belob | beloeb | maara | summa | kwota | kwota operacji | castka | objem | osszeg | tutar | islem tutari | ποσο | jumlah | mutasi | סכום | 金額 | 取引金額 | 金额 | 交易金额 | 거래금액 | राशि | रकम`,
)
called(
  'gross',
  `gross | gross amount | amount gross | brutto | bruttobetrag | montant brut | brut | importe bruto | bruto | importo lordo | lordo | brutobedrag`,
)
called(
  'net',
  `net | net amount | amount net | netto | nettobetrag | montant net | importe neto | neto | importo netto | nettobedrag | valor liquido | total net`,
)
called(
  'balance',
  `balance | bal | saldo | solde | running balance | running bal | closing balance | kontostand | guthaben | disponible | disponibile | 残高 | 差引残高 | 余额 | 잔액 | bakiye | शेष`,
)
called(
  'both',
  `withdrawal deposit | deposit withdrawal | withdrawal dr deposit cr | debit credit amount | credit debit amount | amount dr cr | amount cr dr`,
)
called(
  'in',
  `お預り金額 | お預入れ | 入金額 | 預入金額 | 收入 | 存入 | 입금액 | 입금 | 맡기신금액 | deposit cr | uznania | wplywy | insattningar | insattning | inn | inn pa konto | ind | pano | panot | tulo | priliv | prijem | jovairas | alacak | money credited`,
)
called(
  'out',
  `お支払金額 | お引出し | 出金額 | 支払金額 | 支出 | 支取 | 출금액 | 출금 | 찾으신금액 | withdrawal dr | obciazenia | wydatki | uttag | ut | ut fra konto | ud | otto | otot | meno | odliv | vydej | terheles | borc | money debited`,
)
called(
  'direction',
  `dr cr | cr dr | debit credit | credit debit | d c | c d | dc | cd | d k | k d | dk | s h | h s | sh | sign | side | direction | af bij | bij af | soll haben | haben soll | soll haben kennzeichen | debet credit | credit debet | deebet kreedit | debe haber
  dare avere | debito credito | credito debito | debit credit indicator | credit debit indicator | dr cr indicator | cr dr indicator | credit or debit | debit or credit | debit flag | credit flag | dr cr flag | indicator dr cr | in out
  money in out | balance impact | sens | sens de l operation | richtung | entrada saida | entree sortie | cdt dbt ind | credit debit mark | kierunek | strana | creditdebit | +/- | -/+ | ± | जमा नामे`,
)
called(
  'kind',
  `type | transaction type | txn type | tran type | tipo | tipo de movimiento | tipo operazione | umsatzart | art | type d operation | type de transaction | tipo de transacao | entry type | amount type | trans type | subcategory`,
)
called(
  'state',
  `status | state | transaction status | txn status | payment status | booking status | buchungsstatus | info | umsatzstatus | umsatz vorgemerkt | vorgemerkt | zustand | cleared | cleared status | pending | posted status | statut | etat | etat de l operation | estado
  estado del movimiento | estado da transacao | situacao | stato | stato operazione | staat | tila | stav | durum | स्थिति`,
)
called(
  'reversal',
  `reversal | reversed | storno | stornokennzeichen | is reversal | refund status | return reason | reden retour | ruckgabegrund`,
)
called(
  'description',
  `description | transaction description | transaction details | transaction detail | payment details | payment description | details | detail | narration | narrative | particulars | transaction particulars | remarks | transaction remarks | remark | memo
  description1 | description2 | description3 | beschreibung | beschreibung1 | beschreibung2 | beschreibung3 | beschrijving | notes | note | notes and tags | notes and #tags | message | purpose | text | remittance | remittance information | remittance info | unstructured remittance information | extended details | additional information | notification | notifications | label
  verwendungszweck | zahlungszweck | buchungstext | umsatztext | avisierungstext | vorgangsverwendungszweck | mitteilung | mitteilungen | beschreibung umsatz | buchungsdetails
  libelle | libelle operation | libelle complementaire | libelle simplifie | libelle complet | detail de l ecriture | communication | communications | motif | nature de l operation | informations complementaires | commentaire
  concepto | descripcion | observaciones | concepto ampliado | movimiento | detalle | mas datos | descrizione | causale | descrizione operazione | descrizione estesa | descrizione completa | operazione | dettagli | historico | descricao | descritivo | lancamento | memo descricao | detalhes
  omschrijving | omschrijving 1 | omschrijving 2 | omschrijving 3 | omschrijving1 | omschrijving2 | omschrijving3 | mededeling | mededelingen | naam omschrijving | name description | vrije mededeling | mededeling 1 | transactie omschrijving
  rubrik | beskrivelse | beskrivning | meddelande | melding | tekst | viesti | selitys | otsikko | selgitus | opis | opis operacji | tytul | popis | zprava pro prijemce | kozlemeny | aciklama | keterangan | uraian | תיאור | 摘要 | お取り扱い内容 | 取引内容 | 备注 | 적요 | 내용 | विवरण | payment description | entity description | payment notes`,
)
called(
  'reference',
  `reference | ref | ref no | reference no | reference number | payment reference | bank reference | customer reference | client reference | your reference | reference 1 | reference 2 | chq ref no | chq ref number | chq no ref no | ref no cheque no | ref cheque no | ref chq no | cheque ref no | chq ref | cheque no | cheque number | chq no | chqno
  check or slip | check number | check no | cheque | check | utr | utr no | utr number | end to end id | end to end reference | endtoend | kundenreferenz | kundenreferenz end to end | sammlerreferenz | referenz | referenznummer | zahlungsreferenz | end to end referenz | ende zu ende referenz
  reference de l operation | reference operation | ref client | referencia | referencia 1 | referencia 2 | numero de documento | documento | riferimento | numero documento | doc no | num documento
  betalingskenmerk | kenmerk | referentie | transactiereferentie | kid | ocr | melding kid | viitenumero | viite | viitenumber | archive id | reference text | sandi | invoice number | order receipt | order id | custom number | invoice id | संदर्भ संख्या | चेक संख्या`,
)
called(
  'name',
  `name | payer | payer name | payee | payee name | remitter | remitter name | sender | sender name | from | counterparty | counterparty name | counter party | partner | partner name | other party | other party name | customer | customer name | beneficiary | beneficiary name | merchant | merchant name | paid by | received from | account holder
  beguenstigter zahlungspflichtiger | begunstigter zahlungspflichtiger | begunstigter auftraggeber | beguenstigter auftraggeber | auftraggeber beguenstigter | auftraggeber begunstigter | auftraggeber empfanger | empfanger auftraggeber | name zahlungsbeteiligter | zahlungspflichtige r | zahlungspflichtiger | zahlungsempfanger in | zahlungsempfanger | auftraggeber | absender | name des partners | gegenpartei | gegenkonto name | debitor | zahlungsbeteiligter
  beneficiaire | donneur d ordre | emetteur | tiers | contrepartie | nom de la contrepartie | nom | beneficiario | ordenante | remitente | nombre | pagador | favorecido | ordinante | controparte | nome | ordinante beneficiario
  naam | naam tegenpartij | tegenpartij | naam begunstigde | naam tegenrekening | tegenrekening naam | naam wederpartij | naam van de tegenpartij | initierende partij | avsandare | mottagare | navn | modpart | maksaja | maksunsaaja | nimi | saaja maksja | saaja maksja nimi | nadawca odbiorca | nadawca | kontrahent | nazev protiuctu | partner neve | beneficiary payer | beneficiary or payer | name of counterparty | नाम`,
)
called(
  'currency',
  `currency | currency code | ccy | curr | cur | account currency | transaction currency | wahrung | waehrung | whg | wkz | devise | devise du compte | divisa | moneda | moeda | valuta code | munt | muntsoort | valutta | valuuta | waluta | mena | deviza | para birimi | mata uang | 通貨 | मुद्रा`,
)
called(
  'bankId',
  `transaction id | transaction no | transaction number | txn id | tran id | trans id | id | record id | entry id | entity id | balance transaction id | operation id | unique id | fit id | fitid | transaktions nr | transaktionsnummer | transaktions id | zkb referenz | buchungs id | volgnr | volgnummer | archive no | archiving code | arkistointitunnus
  identificador | numero de operacion | numero operacion | nosso numero | id operazione | arkivref | transaction hash | numer transakcji | id pohybu | id operace | transferwise id | activity id | dokumendi number`,
)
called(
  'account',
  `account | account no | account number | account iban | iban bbt | iban bbt bbn | iban bban | iban bbam | auftragskonto | konto | kontonummer | iban auftragskonto | numero de compte | compte | cuenta | conto | conta | rekening | rekeningnummer | kliendi konto | sort code`,
)

/** Words of headings that are a kind of amount: one of them, and nothing but words of these sets, is that kind. */
const amountWords = words(
  'amount amounts amt value sum betrag betrage umsatz montant montants importe importes monto valor quantia importo importi bedrag belopp belop belob summa kwota castka राशि',
)
const besides = words('of in the transaction transactions txn tran account for by made inr total? konto en de du des der von auf am le la')
const inWords = words(
  `credit credits credited cr deposit deposits deposited haben gutschrift gutschriften eingang eingange zahlungseingang einnahme einnahmen zugang encaissement encaissements recette recettes entree entrees
  abono abonos haber ingreso ingresos credito creditos entrada entradas avere accredito accrediti entrata entrate bij bijschrijving bijschrijvingen credito जमा`,
)
const outWords = words(
  `debit debits debited dr withdrawal withdrawals withdraws withdrawl withdrawls withdrawn withdraw soll lastschrift lastschriften belastung belastungen ausgang ausgange ausgabe ausgaben abgang decaissement decaissements depense depenses sortie sorties
  cargo cargos debe gasto gastos debito debitos saida saidas dare addebito addebiti uscita uscite af afschrijving afschrijvingen uitgave uitgaven uitgaand निकासी नामे`,
)
const inPhrases = list('money in | paid in | amount in | in | amount credited | amount deposited | received amount | amount received')
const outPhrases = list(
  'money out | paid out | amount out | out | amount debited | amount withdrawn | sent amount | amount sent | spent | spent amount | amount spent',
)
/** Of these both are needed: alone they may name something else. */
const pairs: [string[], string[]][] = [
  [
    list('receipts | received | receipt amount | receipts amount'),
    list('payments | paid | payment | payment amount | payments amount | sent | expenses'),
  ],
]
const balanceWords = words('balance bal saldo solde kontostand guthaben disponible disponibile disponivel saldi bakiye')
const feeWords = words(
  'fee fees charge charges commission commissions gebuhr gebuhren gebuehr gebuehren entgelt spesen frais comision comisiones commissione commissioni taxa taxas kosten tax taxes vat gst igst cgst sgst tds mwst ust iva tva btw steuer cost costs auslagenersatz auslagen interest zins zinsen rate kurs cours taux tasa',
)
const foreignWords = words(
  'foreign original orig local instructed converted equivalent counter ursprung ursprungsbetrag originalbetrag fremd fremdwahrung fremdwahrungsbetrag devise etrangere origine origen divisa originale oorspr oorspronkelijk facing merchant exchange',
)
const dateWords = words('date datum fecha data dato tag day dag')

/** The kind of a column by its heading; `pairedWith` are the headings of the file. */
export function bankColumnOf(words: string[], raw: string, keys: ReadonlySet<string>): BankColumn {
  const key = words.join(' ')
  if (key === '') return whole.get(raw.trim()) ?? 'other'
  const named = whole.get(key)
  if (named) return named
  if (inPhrases.includes(key)) return 'in'
  if (outPhrases.includes(key)) return 'out'
  for (const [ins, outs] of pairs) {
    if (ins.includes(key) && outs.some((one) => keys.has(one))) return 'in'
    if (outs.includes(key) && ins.some((one) => keys.has(one))) return 'out'
  }
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word))
  const only = (...sets: ReadonlySet<string>[]) => words.every((word) => sets.some((set) => set.has(word)))
  const isDate = has(dateWords)
  if (isDate) return 'otherDate'
  if (has(balanceWords)) return 'balance'
  if (has(feeWords)) return 'fee'
  const isIn = has(inWords)
  const isOut = has(outWords)
  if (isIn && isOut && only(inWords, outWords, amountWords, besides)) return 'both'
  if (isIn && !isOut && only(inWords, amountWords, besides)) return 'in'
  if (isOut && !isIn && only(outWords, amountWords, besides)) return 'out'
  if (has(amountWords)) {
    if (has(foreignWords)) return 'foreign'
    return only(amountWords, besides) ? 'amount' : 'otherAmount'
  }
  if (has(foreignWords) && words.length === 1) return 'foreign'
  return 'other'
}

/** What a direction says. */
export type Direction = 'in' | 'out' | 'leave'

const ins = new Set(
  list(
    `cr | crdt | credit | credited | credits | deposit | money in | incoming | received | in | haben | gutschrift | eingang | zahlungseingang | bij | credito | abono | haber | ingreso | entrada | avere | accredito | entrata | credit entry
    kredit | kreedit | uznanie | wplyw | insattning | inn | ind | pano | prijem | jovairas | alacak | + | जमा | bijschrijving | encaissement`,
  ),
)
const outs = new Set(
  list(
    `dr | db | dbit | debit | debited | debits | withdrawal | money out | outgoing | out | soll | belastung | lastschrift | ausgang | af | debito | cargo | debe | saida | dare | addebito | uscita | debit entry
    debet | deebet | obciazenie | wydatek | uttag | ut | ud | otto | vydej | terheles | borc | - | नामे | निकासी | afschrijving | decaissement | paid out`,
  ),
)
/** Letters that say a direction beside their other half only. */
const letters: [string, string][] = [
  ['c', 'd'],
  ['k', 'd'],
  ['h', 's'],
  ['a', 'd'],
]

/** What the words of a column of directions mean: a single letter only where all of them are a pair. */
export function directionsOf(all: ReadonlySet<string>): (word: string) => Direction | null {
  const single = [...all].filter((word) => /^[a-z]$/.test(word))
  const pair = letters.find((two) => single.every((one) => two.includes(one)) && two.every((one) => single.includes(one)))
  const alone = letters.find((two) => single.length === 1 && single.every((one) => two.includes(one)))
  return (word) => {
    if (ins.has(word)) return 'in'
    if (outs.has(word)) return 'out'
    const [credit, debit] = pair ?? (alone && [...all].some((one) => ins.has(one) || outs.has(one)) ? alone : [])
    return word !== '' && word === credit ? 'in' : word !== '' && word === debit ? 'out' : null
  }
}

/** The state of a transfer. Only the first two are payments. */
export type State = 'booked' | 'pending' | 'failed' | 'cancelled' | 'returned' | 'refunded' | 'leave'

const stateWords: Record<State, string> = {
  booked: `booked | posted | completed | complete | completed successfully | cleared | settled | executed | success | successful | succeeded | done | processed | final | captured | received | ok | book | credited
    gebucht | umsatz gebucht | verbucht | ausgefuhrt | abgeschlossen | erledigt | comptabilise | comptabilisee | execute | executee | effectue | valide | termine | traite | contabilizado | contabilizada | ejecutado | realizado | completado | liquidado | efetuado | efetivado | concluido | lancado
    contabilizzato | contabilizzata | eseguito | eseguita | completato | confermato | geboekt | uitgevoerd | verwerkt | voltooid | bokford | bokfort | bogfort | utford | utfort | udfort | genomford | kirjattu | zaksiegowana | zaksiegowano | zrealizowana | zauctovano | konyvelt | सफल | पूर्ण`,
  pending: `pending | pndg | in progress | processing | in process | authorised | authorized | authorisation | authorization | hold | on hold | held | reserved | reservation | scheduled | awaiting | unposted | not posted | created | uncleared | not cleared | expected | planned
    vorgemerkt | umsatz vorgemerkt | vormerkung | in bearbeitung | ausstehend | offen | reserviert | geplant | erwartet | en attente | en cours | a venir | prevu | autorise | en instance | pendiente | en curso | retenido | retencion | autorizado | previsto | pendente | em processamento | agendado | em curso
    in attesa | in sospeso | in corso | da contabilizzare | non contabilizzato | in lavorazione | prenotato | autorizzato | in behandeling | gereserveerd | reservering | openstaand | gepland | reserverad | reserveret | reservert | varaus | katevaraus | avvaktar | venter | afventer | ventar | oczekuje | blokada | cekajici | blokace | fuggo | लंबित`,
  failed: `failed | failure | unsuccessful | error | declined | denied | rejected | rjct | refused | not executed | bounced | fehlgeschlagen | abgelehnt | nicht ausgefuhrt | zuruckgewiesen | echoue | echouee | rejete | rejetee | refuse | refusee | fallido | fallida | rechazado | rechazada | denegado | falhou | rejeitado | recusado
    fallito | fallita | rifiutato | respinto | mislukt | geweigerd | afgewezen | nekad | avvist | avslatt | hylatty | odrzucona | zamitnuto | विफल`,
  cancelled: `cancelled | canceled | canc | void | voided | expired | deleted | removed | abandoned | storniert | abgebrochen | annulliert | geloscht | verfallen | annule | annulee | expire | cancelado | cancelada | anulado | anulada | caducado | annullato | annullata | scaduto | geannuleerd | vervallen | avbruten | annullert | annulleret | peruttu | anulowana | zruseno | रद्द`,
  returned: `returned | reversed | reverted | reversal | return | chargeback | charged back | charge back | rvsl | dishonoured | disputed | zuruckgegeben | ruckbuchung | rucklastschrift | zuruckgebucht | retour | retourne | retournee | rejet | devuelto | devuelta | devolucion | revertido | estornado | estorno | devolvido
    stornato | stornata | stornamento | reso | teruggeboekt | gestorneerd | storno | storneras | returnert | returneret | palautettu | zwrocona | zwrot | vraceno`,
  refunded: `refunded | refund | partially refunded | partial refund | full | partial | erstattet | ruckerstattet | teilweise erstattet | rembourse | remboursee | reembolsado | reembolsada | rimborsato | rimborsata | terugbetaald | aterbetald | refundert | refunderet | hyvitetty`,
  leave: '',
}
const states = new Map<string, State>(
  Object.entries(stateWords).flatMap(([state, all]) => list(all).map((word) => [word, state as State] as const)),
)

/** What a word of a column of states means; null where it is not known. */
export function stateOf(word: string): State | null {
  return states.get(word) ?? null
}

/** Whether a cell is nothing but such a word in the place of a date: `Pending`, `Varaus`. */
export function stateInDate(word: string): State | null {
  const state = stateOf(word)
  return state === 'booked' ? null : state
}

const sums = list(
  `opening balance | closing balance | beginning balance | ending balance | starting balance | available balance | current balance | ledger balance | previous balance | new balance | balance brought forward | balance carried forward | balance b f | balance c f | b f | c f | brought forward | carried forward | balance forward
  balance | total | totals | grand total | sub total | subtotal | total credit | total credits | total debit | total debits | total deposits | total withdrawals | total amount | turnover | debit turnover | credit turnover | statement summary | transaction total | page total | transactions total | total for period
  saldo | saldovortrag | anfangssaldo | endsaldo | schlusssaldo | alter saldo | neuer saldo | alter kontostand | neuer kontostand | kontostand | kontosaldo | letzter kontostand | aktueller kontostand | summe | gesamt | gesamtsumme | zwischensumme | ubertrag | abschlusssaldo | umsatzsumme
  solde | solde initial | solde final | ancien solde | nouveau solde | solde precedent | solde reporte | solde crediteur | solde debiteur | total des operations | totaux | total des mouvements | report
  saldo inicial | saldo final | saldo anterior | saldo disponible | saldo actual | total abonos | total cargos | saldo do dia | saldo disponivel | saldo em conta | saldo total disponivel dia | saldo bloqueado | total entradas | total saidas
  saldo iniziale | saldo finale | saldo contabile | saldo disponibile | totale | totale entrate | totale uscite | totale avere | totale dare | beginsaldo | eindsaldo | vorig saldo | nieuw saldo | totaal | totaal bij | totaal af | boeksaldo
  ingaende saldo | utgaende saldo | inngaende saldo | saldo poczatkowe | saldo koncowe | algsaldo | loppsaldo | kaive | alkusaldo | loppusaldo | sakums | प्रारंभिक शेष | अंतिम शेष | कुल | 繰越`,
)
const sumHeads = new Set(sums)
const sumStarts = new Set(sums.map((sum) => sum.split(' ')[0] ?? ''))

/**
 * Whether a text is a balance or a total of the bank: nothing but such a name, with a date, a currency, an amount or a period behind it.
 * `Total Energies INV-9002` is a client.
 */
export function isSum(text: string): boolean {
  if (text.length > 80 || !/^[^\d\p{L}]{0,3}\p{L}/u.test(text)) return false
  const words = wordsOf(text)
  if (!sumStarts.has(words[0] ?? '')) return false
  const behind = words.findIndex((word) =>
    /^(as|of|on|at|am|vom|per|zum|au|le|al|del|em|til|den|for|from|until|bis|from|to|inr|eur|usd|gbp|chf|\d.*)$/.test(word),
  )
  const head = behind < 0 ? words : words.slice(0, behind)
  if (head.length === 0 || !sumHeads.has(head.join(' '))) return false
  // `Total for Acme Ltd` is one too, `Total of INV-9002 Acme` is not known to be.
  return (
    behind < 0 ||
    words.slice(behind).every((word) => !/^\p{L}{4,}$/u.test(word) || monthLike.test(word)) ||
    /^total for\b/.test(words.join(' '))
  )
}
const monthLike = /^(jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)\p{L}*$|^period|^month$|^statement$/u
