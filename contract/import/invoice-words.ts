import { list, wordKey, words } from './headings.ts'

/* What programs call the columns of their lists of invoices, and the words in them, in the languages that Duely writes in. As `headingOf` writes them. */

/** What a column of a list of invoices is. */
export type InvoiceColumn =
  | 'number'
  | 'client'
  | 'email'
  | 'due'
  | 'issued'
  /** A day on which something else began: an order, the row itself. */
  | 'begun'
  | 'otherDate'
  /** Names what has been paid, or when, or that it was: its cells tell which. */
  | 'paid'
  | 'paidAmount'
  | 'paidFlag'
  | 'paidOn'
  /** `Due` and `Open`: a day or an amount, which its cells tell. */
  | 'dueOrOwed'
  | 'balance'
  /** The amount of the invoice: with tax by its name, a total, or any amount. */
  | 'gross'
  | 'total'
  | 'amount'
  | 'net'
  | 'tax'
  /** The amount of one item. */
  | 'item'
  | 'otherAmount'
  | 'status'
  | 'kind'
  /** Whether it is a credit note: yes or no. */
  | 'return'
  /** The invoice that a credit note is for. */
  | 'against'
  | 'currency'
  | 'language'
  | 'text'
  /** Tells which rows of a known layout are invoices. */
  | 'filter'
  | 'other'

/** Headings as a whole, the most exact of each kind first. */
const whole = new Map<string, { column: InvoiceColumn; rank: number }>()
const called = (column: InvoiceColumn, headings: string) => {
  for (const [rank, one] of list(headings).entries()) if (!whole.has(one)) whole.set(one, { column, rank })
}

called(
  'number',
  `invoice number | invoice no | invoice num | invoice nr | bill number | bill no | rechnungsnummer | rechnungsnr | rechnungs nr | rechnung nr | rechnung no | numero de facture | no de facture | n de facture | numero facture | facture n | numero de factura | numero factura | n factura | num factura | n de factura
  numero da fatura | n da fatura | numero da factura | numero fattura | numero di fattura | n fattura | factuurnummer | factuurnr | factuur nr | इनवॉइस नंबर | इनवॉइस संख्या | चालान संख्या | चालान नंबर | बिल नंबर | बिल संख्या
  invoice | document number | document no | doc number | doc no | voucher number | voucher no | belegnummer | belegnr | beleg nr | numero documento | numero de documento | rechnung | facture | factura | fatura | fattura | factuur | चालान | number | no | num | nr | nummer | numero | n | bill | ref no | reference no | reference number | ref number | reference | ref | referenz | referencia | riferimento | referentie | receipt number | receipt no | receipt | संदर्भ | invoice id`,
)
called(
  'client',
  `client name | customer name | customer full name | customer display name | display name | client full name | bill to name | billed to name | buyer name | party name | party s name | debtor name | account name | contact name | invoice partner display name | partner name | recipient name | kundenname | kunden name | nom du client | nom client | nombre del cliente | nombre cliente | nome do cliente | nome cliente | nome del cliente | klantnaam | ग्राहक का नाम | पार्टी का नाम
  client | customer | kunde | klant | cliente | ग्राहक | buyer | party | debtor | bill to | billed to | debitor | debiteur | rechnungsempfanger | destinataire | intestatario | पार्टी | company name | client company | customer company | company | organisation | organization | organisation name | organization name | firma | societe | raison sociale | razon social | empresa | razao social | ragione sociale | azienda | denominazione | bedrijf | bedrijfsnaam | relatie | contact | contacto | partner | recipient | empfanger | name | nom | nombre | nome | naam | नाम`,
)
called(
  'email',
  `client email | customer email | client e mail | customer e mail | client email address | customer email address | primary contact email id | primary contact email | contact email | billing email | bill to email | recipient email | buyer email | party email | kunden e mail | email | e mail | email address | e mail address | email id | e mail id | mail | e mail adresse | email adresse | courriel | adresse e mail | adresse email | adresse mail | correo | correo electronico | email del cliente | endereco de email | posta elettronica | indirizzo email | e mailadres | emailadres | ईमेल | ई मेल`,
)
called(
  'due',
  `due date | invoice due date | payment due date | date due | due on | due by | payment due | payment due on | payment due by | due date utc | pay by | pay before | invoice due on | falligkeitsdatum | faelligkeitsdatum | fallig am | faellig am | falligkeit | faelligkeit | zahlbar bis | zu zahlen bis | date d echeance | echeance | date echeance | date limite de paiement | date limite | a payer avant le | fecha de vencimiento | fecha vencimiento | vencimiento | vence | vence el | fecha limite de pago | data de vencimento | data vencimento | vencimento | data limite
  data di scadenza | data scadenza | scadenza | vervaldatum | vervaldag | uiterste betaaldatum | te betalen voor | देय तिथि | नियत तिथि | भुगतान की अंतिम तिथि`,
)
called(
  'issued',
  `invoice date | date of invoice | issue date | date issued | issued on | date of issue | issued | issued at | bill date | document date | doc date | posting date | invoice bill date | invoice date utc | date utc | rechnungsdatum | belegdatum | ausgestellt am | ausstellungsdatum | date de facture | date de la facture | date facture | date d emission | date de facturation | fecha de factura | fecha factura | fecha de la factura | fecha de emision | fecha emision | fecha de expedicion | data da fatura | data fatura | data de emissao | data emissao
  data fattura | data della fattura | data documento | data di emissione | data emissione | factuurdatum | चालान तिथि | चालान की तारीख | इनवॉइस की तारीख | date | datum | fecha | data | दिनांक | तारीख | तिथि | transaction date`,
)
called(
  'begun',
  `created | created at | created on | created date | date created | creation date | order date | date of order | ordered on | added on | entered on | erstellt | erstellt am | angelegt am | erstellungsdatum | bestelldatum | auftragsdatum | cree le | date de creation | date de commande | creado | creado el | fecha de creacion | fecha de pedido | criado em | data de criacao | data do pedido | creato il | data creazione | data ordine | aangemaakt | aangemaakt op | besteldatum | orderdatum`,
)
called(
  'paidOn',
  `paid on | paid at | paid date | date paid | date of payment | payment date | paid on date | last payment date | last payment | last paid on | settled on | payment received on | date received | bezahlt am | zahlungsdatum | zahldatum | zahlungseingang am | paye le | payee le | regle le | date de paiement | date paiement | date de reglement | pagado el | cobrado el | fecha de pago | fecha pago | fecha de cobro | pago em | data de pagamento | data pagamento | pagato il | data di pagamento | betaald op | betaaldatum | betalingsdatum | भुगतान तिथि | भुगतान की तारीख`,
)
called(
  'paid',
  `paid | is paid | invoice paid | paid in full | fully paid | payment | payments | amount paid | paid amount | total paid | invoice amount paid | invoice paid to date | paid to date | payments received | payment received | amount received | received | received amount | total received | collected | amount collected | payments applied | amount applied | credits | credits applied | credit applied | amount credited | credited | credited amount | credit amount | bezahlt | bezahlter betrag | gezahlt | gezahlter betrag | zahlung | zahlungen | zahlungseingang | erhalten | gutschriften | bereits bezahlt
  paye | payee | montant paye | regle | reglee | montant regle | paiement | paiements | reglements | encaisse | montant encaisse | deja paye | avoirs | pagado | pagada | importe pagado | cobrado | importe cobrado | pago | pagos | abonado | pagamento | pagamentos | valor pago | recebido | valor recebido | pagato | pagata | importo pagato | incassato | importo incassato | pagamenti | betaald | betaald bedrag | betaling | betalingen | ontvangen | reeds betaald | भुगतान | भुगतान राशि | चुकाया गया | प्राप्त राशि`,
)
called(
  'balance',
  `balance due | balance outstanding | balance owed | amount due | amount outstanding | amount owed | amount remaining | amount unpaid | outstanding amount | outstanding balance | outstanding | remaining amount | remaining balance | remaining | unpaid amount | unpaid balance | unpaid | pending amount | pending | due amount | total due | total outstanding | total owed | open balance | open amount | invoice balance | invoice amount due | invoice balance due | current balance | balance | owed | owing | amount owing | balance owing | offener betrag | offen brutto | offene summe | offener saldo | offener posten | restbetrag | rest | noch offen | zu zahlen | saldo | reste a payer | restant du | restant a payer | solde du | montant du | solde | reste du | montant restant
  pendiente | importe pendiente | saldo pendiente | pendiente de pago | pendiente de cobro | por cobrar | em aberto | valor em aberto | saldo em aberto | valor pendente | saldo devedor | pendente | residuo | importo residuo | saldo residuo | da pagare | da incassare | insoluto | importo dovuto | openstaand | openstaand bedrag | openstaand saldo | nog te betalen | nog openstaand | बकाया | बकाया राशि | शेष राशि | देय राशि`,
)
called('dueOrOwed', `due | open | offen | fallig | faellig | dovuto | verschuldigd | देय`)
called(
  'gross',
  `grand total | invoice total | total amount | invoice amount | gross amount | gross total | total gross | amount gross | gross | total incl tax | total incl vat | total inc tax | total inc vat | total including tax | total including vat | total with tax | amount incl tax | amount incl vat | amount including tax | total inc gst | total incl gst | bill amount | invoice value | total invoice amount | summe brutto | brutto | bruttobetrag | gesamt brutto | betrag brutto | rechnungsbetrag | gesamtbetrag | rechnungssumme | gesamtsumme | endbetrag
  total ttc | montant ttc | ttc | total facture | montant total | montant de la facture | importe total | total factura | importe de la factura | total con iva | bruto | importe bruto | total da fatura | valor total | valor da fatura | total com iva | totale fattura | importo totale | totale documento | totale lordo | lordo | totale ivato | totaalbedrag | factuurbedrag | totaal incl btw | bedrag incl btw | incl btw | bruto bedrag | कुल राशि | चालान राशि`,
)
called('total', `total | totals | gesamt | summe | totale | totaal | कुल | कुल योग`)
called('amount', `amount | amt | value | sum | betrag | montant | importe | monto | valor | importo | bedrag | राशि | रकम`)
called(
  'net',
  `net | net amount | net total | total net | subtotal | sub total | taxable amount | taxable value | untaxed amount | amount excl tax | total excl tax | total excl vat | amount excl vat | netto | nettobetrag | summe netto | betrag netto | zwischensumme | total ht | montant ht | ht | sous total | base imponible | importe neto | neto | base | valor liquido | subtotal sem iva | imponibile | totale netto | importo netto | netto bedrag | excl btw | totaal excl btw | bedrag excl btw | subtotaal`,
)
called(
  'item',
  `line total | line amount | line subtotal | item total | item amount | item subtotal | unit amount total | position betrag | positionsbetrag | zeilensumme | total ligne | montant ligne | total linea | importe linea | total da linha | totale riga | importo riga | regeltotaal | regelbedrag`,
)
called(
  'status',
  `payment status | paid status | invoice payment status | payment state | zahlungsstatus | statut de paiement | statut du paiement | estado de pago | estado del pago | estado de cobro | estado do pagamento | stato pagamento | stato del pagamento | betaalstatus | भुगतान स्थिति | invoice status | status | state | current status | document status | invoice state | rechnungsstatus | zustand | statut | etat | statut de la facture | estado | estado de la factura | estado da fatura | situacao | stato | stato fattura | factuurstatus | स्थिति`,
)
called(
  'kind',
  `document type | document kind | doc type | transaction type | txn type | invoice type | voucher type | record type | type | kind | document | type of document | belegart | dokumentart | dokumenttyp | belegtyp | art | typ | type de document | type de piece | nature | tipo de documento | tipo documento | tipo de factura | tipo | documenttype | documentsoort | soort | प्रकार`,
)
called('return', `is return credit note | is return | is credit note | credit note | is credit | is refund`)
called(
  'against',
  `return against | credited invoice | original invoice | original invoice number | original invoice no | credit for invoice | credit note for | applied to invoice | applied to | invoice reference | related invoice | against invoice | bezug | bezugsrechnung | zu rechnung | facture d origine | factura rectificada | factura original | fattura di riferimento | oorspronkelijke factuur`,
)
called(
  'currency',
  `currency code | invoice currency | invoice currency code | currency | client currency | document currency | transaction currency | ccy | curr | cur | wahrung | waehrung | wahrungscode | devise | code devise | moneda | divisa | codigo de moneda | moeda | valuta | munt | muntsoort | मुद्रा`,
)
called(
  'language',
  `language | lang | locale | client language | customer language | invoice language | document language | email language | preferred language | language code | sprache | langue | idioma | lingua | taal | भाषा`,
)
called(
  'text',
  `description | item | item name | item description | product | product service | service | details | notes | note | memo | particulars | remarks | subject | title | project | beschreibung | position | artikel | leistung | betreff | notiz | designation | description article | libelle | objet | concepto | descripcion | articulo | descricao | artigo | servico | descrizione | articolo | oggetto | omschrijving | artikelnaam | विवरण`,
)

/** How exact a heading is among those of its kind: the smaller the more exact. */
export function exactness(key: string): number {
  return whole.get(key)?.rank ?? Number.MAX_SAFE_INTEGER
}

const emailWords = words('email emails mail mailid emailid courriel correo ईमेल')
const notClients = words(
  'supplier vendor sender seller sales agent owner from user staff cc bcc notification notifications sent status date opened subject template count rep salesperson employee',
)
const clientWords = words(
  'client clients customer customers buyer party debtor kunde kunden cliente klant contact account bill billing billed ship',
)
const nameWords = words('name full display company business legal primary main to s of the nom nombre nome naam')
const amountWords = words(
  'amount amounts amt total totals value sum betrag summe gesamtbetrag montant importe monto valor importo totale bedrag totaal राशि',
)
const taxWords = words(
  'tax taxes vat gst igst cgst sgst tds mwst ust iva tva btw steuer umsatzsteuer discount rabatt remise descuento desconto sconto korting fee fees charge charges shipping freight versand commission tip round rounding retainer late interest',
)
const netWords = words('net netto ht excl excluding before without untaxed taxable subtotal neto liquido imponibile')
const itemWords = words('line item unit position zeile ligne linea linha riga regel price rate qty quantity')
const foreignWords = words('base company foreign converted local exchange home reporting original signed')
const grossWords = words('incl including inclusive with gross brutto ttc incl inc grand invoice bill document')
const besides = words('in of the for a to on by de du des la le der die das da do del di van het')
const dateWords = words('date datum fecha data day tag on at am le el il op तिथि तारीख')
const dueWords = words('due falligkeit faelligkeit fallig faellig echeance vencimiento vencimento scadenza verval vervaldatum payment pay')
const owedWords = words('outstanding remaining owed owing unpaid open balance offen offener restant pendiente residuo openstaand due')
const paidWords = words(
  'paid received collected bezahlt gezahlt paye regle pagado cobrado pago recebido pagato incassato betaald ontvangen',
)

/** The kind of a column by its heading. */
export function invoiceColumnOf(its: string[]): InvoiceColumn {
  const key = its.join(' ')
  if (key === '') return 'other'
  const named = whole.get(key)
  if (named) return named.column
  const has = (set: ReadonlySet<string>) => its.some((word) => set.has(word))
  const only = (...sets: ReadonlySet<string>[]) => its.every((word) => sets.some((set) => set.has(word)))
  const isEmail = has(emailWords) || /(^| )e mail( |$)/.test(key)
  if (isEmail) return has(notClients) ? 'other' : 'email'
  if (has(amountWords) || (has(owedWords) && only(owedWords, besides, grossWords))) {
    if (has(foreignWords)) return 'other'
    if (has(itemWords)) return 'item'
    if (has(netWords)) return 'net'
    if (has(paidWords)) return 'paid'
    if (has(owedWords)) return only(owedWords, amountWords, besides, grossWords) ? 'balance' : 'otherAmount'
    if (only(amountWords, besides, grossWords, taxWords) && has(grossWords)) return 'gross'
    if (has(taxWords)) return 'tax'
    return only(amountWords, besides) ? 'amount' : 'otherAmount'
  }
  if (has(taxWords)) return 'tax'
  // What speaks of payment is asked about, where its cells do not tell.
  if (has(paidWords) && !has(dateWords) && its.length <= 3) return 'paid'
  if (has(dateWords)) return has(dueWords) && !has(paidWords) && only(dateWords, dueWords, besides, grossWords) ? 'due' : 'otherDate'
  if (has(clientWords) && its.includes('name') && only(clientWords, nameWords)) return 'client'
  return 'other'
}

/**
 * What a status says. `open`: to be paid, and whether it is overdue follows from the date. `unpaid` is what a person chose to call unpaid. Those behind
 * `partial` are left out.
 */
export type Status = 'paid' | 'unpaid' | 'overdue' | 'open' | 'partial' | LeftStatus
export type LeftStatus = 'draft' | 'void' | 'cancelled' | 'deleted' | 'writtenOff' | 'credit' | 'leave'

const statusWords: Record<Exclude<Status, 'leave'>, string> = {
  paid: `paid | paid in full | fully paid | auto paid | autopaid | overpaid | paid overpaid | payment received | settled | paid up
    bezahlt | voll bezahlt | vollstandig bezahlt | beglichen | ausgeglichen | uberzahlt | paye | payee | payes | reglee | regle | acquittee | acquitte | soldee | encaissee | pagado | pagada | cobrado | cobrada | liquidado | liquidada | pago | paga | quitado | quitada
    pagato | pagata | saldato | saldata | incassato | incassata | betaald | voldaan | भुगतान किया गया | भुगतान हो गया | चुकता`,
  unpaid: `unpaid | not paid | unbezahlt | nicht bezahlt | impayee | impaye | non payee | non paye | no pagado | no pagada | sin pagar | impagado | impagada | nao pago | nao paga | non pagato | non pagata | onbetaald | niet betaald | भुगतान नहीं हुआ`,
  overdue: `overdue | late | past due | in arrears | uberfallig | ueberfaellig | im verzug | en retard | retard | echue | echu | vencido | vencida | atrasado | atrasada | em atraso | scaduto | scaduta | in ritardo | verlopen | te laat | achterstallig | अतिदेय`,
  open: `open | due | pending | outstanding | sent | viewed | issued | approved | authorised | authorized | awaiting payment | pending payment | payment pending | payment due | due today | due tomorrow | due later | emailed | posted | finalized | finalised | reminded | reminder sent
    offen | fallig | faellig | versendet | gesendet | verschickt | gestellt | freigegeben | gemahnt | ausstehend | ouverte | ouvert | envoyee | envoye | a payer | en attente | en attente de paiement | emise | validee | a echoir
    abierto | abierta | enviado | enviada | pendiente | pendiente de pago | pendiente de cobro | emitido | emitida | em aberto | aberto | aberta | pendente | a receber | aperto | aperta | inviato | inviata | emesso | emessa | da pagare | da incassare | in attesa | openstaand | verzonden | verstuurd | te betalen | भेजा गया | खुला | लंबित | देय`,
  partial: `partial | partially paid | part paid | partly paid | part payment | partial payment | paid partially | partially | teilweise bezahlt | teilbezahlt | teilzahlung | partiellement payee | payee partiellement | partiellement reglee | paiement partiel | parcialmente pagado | parcialmente pagada | pago parcial | pagado parcialmente | cobrado parcialmente | parcialmente cobrado | parcialmente pago | parcialmente paga | pago parcialmente
    parzialmente pagato | parzialmente pagata | pagato parzialmente | parziale | deels betaald | gedeeltelijk betaald | आंशिक भुगतान`,
  draft: `draft | drafts | saved draft | awaiting approval | pending approval | entwurf | brouillon | borrador | rascunho | bozza | concept | मसौदा | ड्राफ्ट`,
  void: `void | voided | reversed | ungultig | nulle | anulado | anulada | nullo`,
  cancelled: `cancelled | canceled | storniert | annulliert | annulee | annule | cancelado | cancelada | annullato | annullata | stornato | stornata | geannuleerd | रद्द`,
  deleted: `deleted | rejected | geloscht | abgelehnt | supprimee | supprime | refusee | eliminado | eliminada | rechazado | rechazada | excluido | excluida | rejeitado | eliminato | eliminata | rifiutato | verwijderd | afgewezen | हटाया गया`,
  writtenOff: `written off | write off | writeoff | bad debt | uncollectible | refunded | credited | abgeschrieben | ausgebucht | erstattet | gutgeschrieben | irrecouvrable | passee en perte | remboursee | incobrable | reembolsado | reembolsada | inesigibile | rimborsato | rimborsata | afgeschreven | oninbaar | terugbetaald`,
  credit: `credit note | credit | gutschrift | avoir | nota de credito | nota di credito | creditnota`,
}
const statuses = new Map(Object.entries(statusWords).flatMap(([status, all]) => list(all).map((word) => [word, status as Status] as const)))

/** What a word of a column of statuses means; null where it is not known. An empty cell says nothing: it is open. */
export function statusOf(word: string): Status | null {
  if (word === '') return 'open'
  const bare = word.replace(/ (viewed|sent|emailed)$/, '')
  if (/^(overdue|past due|late)( by| for)? \d+ days?$/.test(bare)) return 'overdue'
  if (/^due in \d+ days?$/.test(bare)) return 'open'
  return statuses.get(word) ?? statuses.get(bare) ?? null
}

const yes = words('yes y true ja j oui si sim sì wahr vrai vero verdadero verdadeiro waar ✓ ✔ हाँ हां')
const no = words('no n false nein non nao nee falsch faux falso onwaar नहीं')

/** Whether a word is a yes or a no; null where it is neither. */
export function yesOrNo(word: string): boolean | null {
  return yes.has(word) ? true : no.has(word) ? false : null
}

/** What a word says in a column that is called `Paid`. */
export function paidFlagOf(word: string): Status | null {
  const says = yesOrNo(word)
  if (says !== null) return says ? 'paid' : 'open'
  return word === '' ? null : statusOf(word)
}

/** What a document is. Credit notes and payments are no invoices of their own. */
export type Kind = 'invoice' | 'credit' | 'other'

const kindWords: Record<Kind, string> = {
  invoice: `invoice | invoices | sales invoice | sale invoice | customer invoice | tax invoice | deposit invoice | progress invoice | progress payment invoice | payment invoice | advance invoice | interim invoice | final invoice | standard invoice | standard | recurring invoice | retainer invoice | service invoice | commercial invoice | bill of supply | accrec | out invoice | inv | sales
    rechnung | ausgangsrechnung | anzahlungsrechnung | abschlagsrechnung | teilrechnung | schlussrechnung | dauerrechnung | facture | facture de vente | facture client | facture d acompte | facture de solde | factura | factura de venta | factura de anticipo | factura ordinaria | factura simplificada | fatura | fatura de adiantamento | fatura recibo | nota fiscal
    fattura | fattura di vendita | fattura d acconto | fattura di acconto | factuur | verkoopfactuur | voorschotfactuur | चालान | इनवॉइस | बिक्री चालान`,
  credit: `credit note | credit memo | creditmemo | sales credit note | sales credit memo | customer credit note | accreccredit | out refund | credit | credit invoice | refund | return | gutschrift | rechnungskorrektur | stornorechnung | korrekturrechnung | avoir | note de credit | facture d avoir | nota de credito | factura rectificativa | abono | nota de abono | nota di credito | creditnota | creditfactuur | क्रेडिट नोट`,
  other: `payment | customer payment | receipt | sales receipt | overpayment | prepayment | bill | accpay | purchase invoice | purchase bill | bill credit | vendor credit | purchase order | sales order | order | estimate | quote | quotation | proposal | expense | expense claim | purchase | deposit | journal | journal entry | pro forma | proforma | pro forma invoice | proforma invoice | delivery note | statement | time | refund receipt | finance charge
    angebot | auftrag | auftragsbestatigung | bestellung | lieferschein | eingangsrechnung | zahlung | mahnung | devis | commande | bon de commande | bon de livraison | facture d achat | facture fournisseur | paiement | presupuesto | pedido | albaran | factura de compra | pago | recibo | orcamento | encomenda | recibo | pagamento
    preventivo | ordine | documento di trasporto | fattura di acquisto | ricevuta | offerte | bestelling | inkoopfactuur | betaling | भुगतान | रसीद | कोटेशन`,
}
const kinds = new Map(Object.entries(kindWords).flatMap(([kind, all]) => list(all).map((word) => [word, kind as Kind] as const)))

/** What a word of a column of documents means, as a whole; null where it is not known. */
export function kindOf(word: string): Kind | null {
  return kinds.get(word) ?? null
}

const totals = list(
  `total | totals | grand total | sub total | subtotal | summe | gesamt | gesamtsumme | zwischensumme | totaux | total general | sous total | total general | totale | totale generale | totaal | subtotaal | eindtotaal | कुल | कुल योग`,
)

/** Whether a cell names a sum: `Total`, `Grand Total`, `Total for Acme Corp`. */
export function isTotal(cell: string): boolean {
  // Asked of every cell of a file.
  if (cell.length > 80 || !/^[^\p{L}]*(total|grand|sub|sous|summe|gesamt|zwischen|totaux|totaal|eind|कुल)/iu.test(cell)) return false
  const key = wordKey(cell)
  return totals.includes(key) || /^(grand )?total (for|of|in|due|inr|usd|eur|gbp)\b/.test(key)
}
