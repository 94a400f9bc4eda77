import type { Language, PayWords } from './speech.ts'

/*
 * What emails to clients say in the languages besides English, where their business has written nothing. Subjects, greetings, openings, labels and
 * closings are given by the product's specification; the texts of steps and the words about paying are ours. Only the server needs all of it, and
 * the screens on which texts are written.
 */

type Other = Exclude<Language, 'en'>

/** A text about one invoice, and about several. */
interface Pair {
  one: string
  many: string
}

interface StepWords {
  subject: Pair
  text: Pair
}

interface Words {
  subject: Pair
  greeting: string
  opening: Pair
  labels: { invoice: string; amount: string; due: string; days: string; count: string; total: string }
  close: string
  bye: string
  more: (count: number, amount: string) => string
  steps: Record<'before' | 'due' | 'firm' | 'final', StepWords>
  pay: PayWords
}

/** French has a space before a colon that no line breaks at. */
const gap = '\u00a0'

export const words: Record<Other, Words> = {
  hi: {
    subject: {
      one: 'भुगतान अनुस्मारक: इनवॉइस {{invoiceId}} की देय तिथि {{dueDate}} थी',
      many: 'भुगतान अनुस्मारक: {{totalAmount}} बकाया',
    },
    greeting: 'नमस्ते {{clientName}},',
    opening: {
      one: 'यह एक विनम्र अनुस्मारक है कि नीचे दिए गए इनवॉइस का भुगतान हमें अभी तक नहीं मिला है।',
      many: 'यह एक विनम्र अनुस्मारक है कि नीचे दिए गए इनवॉइसों का भुगतान हमें अभी तक नहीं मिला है।',
    },
    labels: {
      invoice: 'इनवॉइस',
      amount: 'राशि',
      due: 'देय तिथि',
      days: 'विलंब के दिन',
      count: 'इनवॉइसों की संख्या',
      total: 'कुल',
    },
    close:
      'यदि आपने इस बीच भुगतान कर दिया है, तो धन्यवाद; कृपया इस ईमेल पर ध्यान न दें। अन्यथा, कृपया अगले कुछ दिनों में भुगतान कर दें। यदि कुछ अस्पष्ट हो, तो बस इस ईमेल का उत्तर दें।',
    bye: 'सादर,',
    more: (count, amount) => `और ${count} इनवॉइस (${amount})`,
    steps: {
      before: {
        subject: { one: 'इनवॉइस {{invoiceId}} की देय तिथि {{dueDate}} है', many: '{{totalAmount}} का भुगतान जल्द ही देय है' },
        text: {
          one: 'नीचे दिए गए इनवॉइस की देय तिथि निकट है। यदि भुगतान की व्यवस्था पहले ही हो चुकी है, तो धन्यवाद: और कुछ करने की आवश्यकता नहीं है।',
          many: 'नीचे दिए गए इनवॉइसों की देय तिथि निकट है। यदि भुगतान की व्यवस्था पहले ही हो चुकी है, तो धन्यवाद: और कुछ करने की आवश्यकता नहीं है।',
        },
      },
      due: {
        subject: { one: 'इनवॉइस {{invoiceId}} का भुगतान {{dueDate}} को देय है', many: '{{totalAmount}} का भुगतान देय है' },
        text: {
          one: 'कृपया नीचे दिए गए इनवॉइस की देय तिथि पर ध्यान दें। यदि भुगतान भेजा जा चुका है, तो धन्यवाद।',
          many: 'कृपया नीचे दिए गए इनवॉइसों की देय तिथि पर ध्यान दें। यदि भुगतान भेजा जा चुका है, तो धन्यवाद।',
        },
      },
      firm: {
        subject: { one: 'इनवॉइस {{invoiceId}} का भुगतान अब भी बकाया है', many: '{{totalAmount}} का भुगतान अब भी बकाया है' },
        text: {
          one: 'हमने नीचे दिए गए भुगतान के बारे में आपको लिखा था, परंतु वह हमें अभी तक नहीं मिला है। कृपया अगले 7 दिनों के भीतर भुगतान करें, या उत्तर देकर बताएँ कि यह हमें कब तक मिल सकेगा। यदि इनवॉइस में कोई त्रुटि है, तो कृपया अभी बताएँ, ताकि हम उसे ठीक कर सकें।',
          many: 'हमने नीचे दिए गए भुगतानों के बारे में आपको लिखा था, परंतु वे हमें अभी तक नहीं मिले हैं। कृपया अगले 7 दिनों के भीतर भुगतान करें, या उत्तर देकर बताएँ कि ये हमें कब तक मिल सकेंगे। यदि इनवॉइसों में कोई त्रुटि है, तो कृपया अभी बताएँ, ताकि हम उसे ठीक कर सकें।',
        },
      },
      final: {
        subject: { one: 'अंतिम अनुस्मारक: इनवॉइस {{invoiceId}}', many: 'अंतिम अनुस्मारक: {{totalAmount}}' },
        text: {
          one: 'हमारे अनुस्मारकों के बावजूद नीचे दिया गया भुगतान अब भी बकाया है। कृपया इस ईमेल के 7 दिनों के भीतर भुगतान करें। यदि तब तक हमें आपसे कोई सूचना नहीं मिलती, तो हमें राशि की वसूली के लिए आगे के कदमों पर विचार करना पड़ेगा। यदि आप अभी पूरी राशि का भुगतान नहीं कर सकते, तो उत्तर दें, ताकि हम कोई तिथि तय कर सकें।',
          many: 'हमारे अनुस्मारकों के बावजूद नीचे दिए गए भुगतान अब भी बकाया हैं। कृपया इस ईमेल के 7 दिनों के भीतर भुगतान करें। यदि तब तक हमें आपसे कोई सूचना नहीं मिलती, तो हमें राशि की वसूली के लिए आगे के कदमों पर विचार करना पड़ेगा। यदि आप अभी पूरी राशि का भुगतान नहीं कर सकते, तो उत्तर दें, ताकि हम कोई तिथि तय कर सकें।',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `${amount} का भुगतान करें`,
      seeAndPay: (amount) => `देखें और ${amount} का भुगतान करें`,
      upi: 'UPI आईडी',
      qr: (amount) => `${amount} के लिए UPI क्यूआर कोड`,
      received: (paid, total) => `${total} में से ${paid} मिल चुके हैं, धन्यवाद।`,
      file: 'इनवॉइस डाउनलोड करें (PDF)',
      fileOf: (reference) => `${reference} डाउनलोड करें (PDF)`,
      question: 'भुगतान कर चुके हैं, या कोई प्रश्न है?',
      tellUsThere: 'हमें वहाँ बताएँ',
      orReply: ', या इस ईमेल का उत्तर दें।',
      reply: 'कृपया इस ईमेल का उत्तर दें।',
      sentWith: 'Duely के साथ भेजा गया',
      bank: {
        accountName: 'खाताधारक का नाम',
        accountNumber: 'खाता संख्या',
        sortCode: 'सॉर्ट कोड',
        routingNumber: 'राउटिंग नंबर',
        reference: 'संदर्भ',
      },
    },
  },
  de: {
    subject: {
      one: 'Zahlungserinnerung: Rechnung {{invoiceId}} war am {{dueDate}} fällig',
      many: 'Zahlungserinnerung: {{totalAmount}} überfällig',
    },
    greeting: 'Guten Tag {{clientName}},',
    opening: {
      one: 'vielleicht ist es Ihnen entgangen: Die Zahlung der folgenden Rechnung ist bei uns noch nicht eingegangen.',
      many: 'vielleicht ist es Ihnen entgangen: Die Zahlungen der folgenden Rechnungen sind bei uns noch nicht eingegangen.',
    },
    labels: {
      invoice: 'Rechnung',
      amount: 'Betrag',
      due: 'Fällig am',
      days: 'Tage überfällig',
      count: 'Anzahl der Rechnungen',
      total: 'Gesamtbetrag',
    },
    close:
      'Falls Sie inzwischen bezahlt haben: vielen Dank, bitte betrachten Sie diese E-Mail dann als gegenstandslos. Andernfalls bitten wir Sie, den Betrag in den nächsten Tagen zu überweisen. Wenn etwas unklar ist, antworten Sie einfach auf diese E-Mail.',
    bye: 'Mit freundlichen Grüßen',
    more: (count, amount) => `und ${count} weitere (${amount})`,
    steps: {
      before: {
        subject: { one: 'Rechnung {{invoiceId}} ist am {{dueDate}} fällig', many: '{{totalAmount}} demnächst fällig' },
        text: {
          one: 'nur ein kurzer Hinweis: Die folgende Rechnung wird demnächst fällig. Falls die Zahlung bereits veranlasst ist, vielen Dank: Sie müssen nichts weiter tun.',
          many: 'nur ein kurzer Hinweis: Die folgenden Rechnungen werden demnächst fällig. Falls die Zahlung bereits veranlasst ist, vielen Dank: Sie müssen nichts weiter tun.',
        },
      },
      due: {
        subject: { one: 'Die Zahlung der Rechnung {{invoiceId}} ist am {{dueDate}} fällig', many: '{{totalAmount}} fällig' },
        text: {
          one: 'bitte beachten Sie die Fälligkeit der folgenden Rechnung. Falls die Zahlung bereits unterwegs ist, vielen Dank.',
          many: 'bitte beachten Sie die Fälligkeit der folgenden Rechnungen. Falls die Zahlung bereits unterwegs ist, vielen Dank.',
        },
      },
      firm: {
        subject: { one: 'Rechnung {{invoiceId}} ist weiterhin offen', many: '{{totalAmount}} weiterhin offen' },
        text: {
          one: 'wir haben Sie bereits wegen der folgenden Zahlung angeschrieben, sie ist bei uns aber noch nicht eingegangen. Bitte zahlen Sie innerhalb der nächsten 7 Tage, oder teilen Sie uns mit, wann wir mit der Zahlung rechnen können. Wenn an der Rechnung etwas nicht stimmt, geben Sie uns bitte jetzt Bescheid, damit wir es richtigstellen können.',
          many: 'wir haben Sie bereits wegen der folgenden Zahlungen angeschrieben, sie sind bei uns aber noch nicht eingegangen. Bitte zahlen Sie innerhalb der nächsten 7 Tage, oder teilen Sie uns mit, wann wir mit den Zahlungen rechnen können. Wenn an den Rechnungen etwas nicht stimmt, geben Sie uns bitte jetzt Bescheid, damit wir es richtigstellen können.',
        },
      },
      final: {
        subject: { one: 'Letzte Zahlungserinnerung: Rechnung {{invoiceId}}', many: 'Letzte Zahlungserinnerung: {{totalAmount}}' },
        text: {
          one: 'trotz unserer Erinnerungen ist die folgende Zahlung noch offen. Bitte zahlen Sie innerhalb von 7 Tagen ab dieser E-Mail. Wenn wir bis dahin nichts von Ihnen hören, müssen wir weitere Schritte erwägen, um den Betrag einzufordern. Wenn Sie jetzt nicht alles bezahlen können, antworten Sie bitte, damit wir einen Termin vereinbaren können.',
          many: 'trotz unserer Erinnerungen sind die folgenden Zahlungen noch offen. Bitte zahlen Sie innerhalb von 7 Tagen ab dieser E-Mail. Wenn wir bis dahin nichts von Ihnen hören, müssen wir weitere Schritte erwägen, um den Betrag einzufordern. Wenn Sie jetzt nicht alles bezahlen können, antworten Sie bitte, damit wir einen Termin vereinbaren können.',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `${amount} bezahlen`,
      seeAndPay: (amount) => `Ansehen und ${amount} bezahlen`,
      upi: 'UPI-ID',
      qr: (amount) => `UPI-QR-Code für ${amount}`,
      received: (paid, total) => `${paid} von ${total} sind eingegangen, vielen Dank.`,
      file: 'Rechnung herunterladen (PDF)',
      fileOf: (reference) => `${reference} herunterladen (PDF)`,
      question: 'Haben Sie schon bezahlt, oder haben Sie eine Frage?',
      tellUsThere: 'Teilen Sie es uns dort mit',
      orReply: ', oder antworten Sie auf diese E-Mail.',
      reply: 'Bitte antworten Sie auf diese E-Mail.',
      sentWith: 'Gesendet mit Duely',
      bank: {
        accountName: 'Kontoinhaber',
        accountNumber: 'Kontonummer',
        sortCode: 'Bankleitzahl (Sort Code)',
        routingNumber: 'Bankleitzahl (Routing Number)',
        reference: 'Verwendungszweck',
      },
    },
  },
  fr: {
    subject: {
      one: `Rappel de paiement${gap}: facture {{invoiceId}} échue le {{dueDate}}`,
      many: `Rappel de paiement${gap}: {{totalAmount}} en retard`,
    },
    greeting: 'Bonjour {{clientName}},',
    opening: {
      one: 'Sauf erreur de notre part, nous n’avons pas encore reçu le règlement de la facture ci-dessous.',
      many: 'Sauf erreur de notre part, nous n’avons pas encore reçu le règlement des factures ci-dessous.',
    },
    labels: {
      invoice: 'Facture',
      amount: 'Montant',
      due: 'Échéance',
      days: 'Jours de retard',
      count: 'Nombre de factures',
      total: 'Total',
    },
    close:
      'Si vous avez réglé entre-temps, merci, et ne tenez pas compte de ce message. Sinon, nous vous serions reconnaissants de procéder au paiement dans les prochains jours. Si quelque chose n’est pas clair, répondez simplement à cet e-mail.',
    bye: 'Cordialement,',
    more: (count, amount) => `et ${count} ${count === 1 ? 'autre' : 'autres'} (${amount})`,
    steps: {
      before: {
        subject: { one: 'La facture {{invoiceId}} arrive à échéance le {{dueDate}}', many: `Échéance proche${gap}: {{totalAmount}}` },
        text: {
          one: `Nous vous informons que la facture ci-dessous arrivera bientôt à échéance. Si le règlement est déjà prévu, merci${gap}: vous n’avez rien d’autre à faire.`,
          many: `Nous vous informons que les factures ci-dessous arriveront bientôt à échéance. Si le règlement est déjà prévu, merci${gap}: vous n’avez rien d’autre à faire.`,
        },
      },
      due: {
        subject: {
          one: 'Le règlement de la facture {{invoiceId}} est attendu le {{dueDate}}',
          many: `Règlement attendu${gap}: {{totalAmount}}`,
        },
        text: {
          one: 'Nous nous permettons de vous signaler l’échéance de la facture ci-dessous. Si le règlement est en cours, merci.',
          many: 'Nous nous permettons de vous signaler l’échéance des factures ci-dessous. Si le règlement est en cours, merci.',
        },
      },
      firm: {
        subject: { one: 'La facture {{invoiceId}} reste impayée', many: `Toujours impayé${gap}: {{totalAmount}}` },
        text: {
          one: 'Nous vous avons déjà écrit au sujet du règlement ci-dessous, mais ne l’avons toujours pas reçu. Nous vous prions de bien vouloir y procéder sous 7 jours, ou de nous indiquer à quelle date nous pouvons l’attendre. Si la facture comporte une erreur, merci de nous le signaler dès maintenant, afin que nous puissions la corriger.',
          many: 'Nous vous avons déjà écrit au sujet des règlements ci-dessous, mais ne les avons toujours pas reçus. Nous vous prions de bien vouloir y procéder sous 7 jours, ou de nous indiquer à quelle date nous pouvons les attendre. Si les factures comportent une erreur, merci de nous le signaler dès maintenant, afin que nous puissions la corriger.',
        },
      },
      final: {
        subject: { one: `Dernier rappel${gap}: facture {{invoiceId}}`, many: `Dernier rappel${gap}: {{totalAmount}}` },
        text: {
          one: 'Malgré nos rappels, le règlement ci-dessous ne nous est pas parvenu. Nous vous prions de bien vouloir y procéder dans les 7 jours suivant cet e-mail. Sans nouvelles de votre part d’ici là, nous devrons envisager d’autres démarches pour recouvrer la somme due. Si vous ne pouvez pas tout régler maintenant, répondez-nous, afin de convenir d’une date.',
          many: 'Malgré nos rappels, les règlements ci-dessous ne nous sont pas parvenus. Nous vous prions de bien vouloir y procéder dans les 7 jours suivant cet e-mail. Sans nouvelles de votre part d’ici là, nous devrons envisager d’autres démarches pour recouvrer la somme due. Si vous ne pouvez pas tout régler maintenant, répondez-nous, afin de convenir d’une date.',
        },
      },
    },
    pay: {
      colon: `${gap}: `,
      pay: (amount) => `Payer ${amount}`,
      seeAndPay: (amount) => `Voir et payer ${amount}`,
      upi: 'Identifiant UPI',
      qr: (amount) => `Code QR UPI pour ${amount}`,
      received: (paid, total) => `${paid} sur ${total} ont été reçus, merci.`,
      file: 'Télécharger la facture (PDF)',
      fileOf: (reference) => `Télécharger ${reference} (PDF)`,
      question: `Vous avez déjà payé ou vous avez une question${gap}?`,
      tellUsThere: 'Dites-le-nous sur cette page',
      orReply: ', ou répondez à cet e-mail.',
      reply: 'Merci de répondre à cet e-mail.',
      sentWith: 'Envoyé avec Duely',
      bank: {
        accountName: 'Titulaire du compte',
        accountNumber: 'Numéro de compte',
        sortCode: 'Code bancaire (sort code)',
        routingNumber: 'Code bancaire (routing number)',
        reference: 'Référence',
      },
    },
  },
  es: {
    subject: {
      one: 'Recordatorio de pago: la factura {{invoiceId}} venció el {{dueDate}}',
      many: 'Recordatorio de pago: importe vencido de {{totalAmount}}',
    },
    greeting: 'Hola, {{clientName}}:',
    opening: {
      one: 'Le recordamos amablemente que aún no hemos recibido el pago de la siguiente factura.',
      many: 'Le recordamos amablemente que aún no hemos recibido el pago de las siguientes facturas.',
    },
    labels: {
      invoice: 'Factura',
      amount: 'Importe',
      due: 'Vencimiento',
      days: 'Días de retraso',
      count: 'Número de facturas',
      total: 'Total',
    },
    close:
      'Si ya ha realizado el pago, muchas gracias; no tenga en cuenta este mensaje. De lo contrario, le agradeceríamos que lo efectuara en los próximos días. Si tiene alguna duda, basta con responder a este correo.',
    bye: 'Atentamente,',
    more: (count, amount) => `y ${count} más (${amount})`,
    steps: {
      before: {
        subject: { one: 'La factura {{invoiceId}} vence el {{dueDate}}', many: 'Próximo vencimiento: {{totalAmount}}' },
        text: {
          one: 'Le informamos de que la siguiente factura vencerá pronto. Si el pago ya está previsto, muchas gracias: no tiene que hacer nada más.',
          many: 'Le informamos de que las siguientes facturas vencerán pronto. Si el pago ya está previsto, muchas gracias: no tiene que hacer nada más.',
        },
      },
      due: {
        subject: { one: 'El pago de la factura {{invoiceId}} vence el {{dueDate}}', many: 'Importe por pagar: {{totalAmount}}' },
        text: {
          one: 'Le rogamos que tenga en cuenta la fecha de vencimiento de la siguiente factura. Si el pago está en camino, muchas gracias.',
          many: 'Le rogamos que tenga en cuenta la fecha de vencimiento de las siguientes facturas. Si el pago está en camino, muchas gracias.',
        },
      },
      firm: {
        subject: { one: 'La factura {{invoiceId}} sigue pendiente de pago', many: 'Importe aún pendiente: {{totalAmount}}' },
        text: {
          one: 'Ya le escribimos acerca del siguiente pago y aún no lo hemos recibido. Le rogamos que lo efectúe en los próximos 7 días, o que nos indique cuándo podemos esperarlo. Si hay algún error en la factura, le rogamos que nos lo comunique ahora para que podamos corregirlo.',
          many: 'Ya le escribimos acerca de los siguientes pagos y aún no los hemos recibido. Le rogamos que los efectúe en los próximos 7 días, o que nos indique cuándo podemos esperarlos. Si hay algún error en las facturas, le rogamos que nos lo comunique ahora para que podamos corregirlo.',
        },
      },
      final: {
        subject: { one: 'Último recordatorio: factura {{invoiceId}}', many: 'Último recordatorio: {{totalAmount}}' },
        text: {
          one: 'A pesar de nuestros recordatorios, el siguiente pago sigue pendiente. Le rogamos que lo abone en un plazo de 7 días a partir de este correo. Si para entonces no tenemos noticias suyas, tendremos que considerar otras medidas para recuperar el importe. Si no puede pagarlo todo ahora, responda para que podamos acordar una fecha.',
          many: 'A pesar de nuestros recordatorios, los siguientes pagos siguen pendientes. Le rogamos que los abone en un plazo de 7 días a partir de este correo. Si para entonces no tenemos noticias suyas, tendremos que considerar otras medidas para recuperar el importe. Si no puede pagarlo todo ahora, responda para que podamos acordar una fecha.',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `Pagar ${amount}`,
      seeAndPay: (amount) => `Ver y pagar ${amount}`,
      upi: 'Identificador UPI',
      qr: (amount) => `Código QR de UPI por ${amount}`,
      received: (paid, total) => `Se han recibido ${paid} de ${total}, gracias.`,
      file: 'Descargar la factura (PDF)',
      fileOf: (reference) => `Descargar ${reference} (PDF)`,
      question: '¿Ya ha pagado o tiene alguna pregunta?',
      tellUsThere: 'Díganoslo en esa página',
      orReply: ', o responda a este correo.',
      reply: 'Responda a este correo, por favor.',
      sentWith: 'Enviado con Duely',
      bank: {
        accountName: 'Titular de la cuenta',
        accountNumber: 'Número de cuenta',
        sortCode: 'Código bancario (sort code)',
        routingNumber: 'Código bancario (routing number)',
        reference: 'Referencia',
      },
    },
  },
  pt: {
    subject: {
      one: 'Lembrete de pagamento: a fatura {{invoiceId}} venceu em {{dueDate}}',
      many: 'Lembrete de pagamento: {{totalAmount}} em atraso',
    },
    greeting: 'Olá, {{clientName}},',
    opening: {
      one: 'Lembramos que ainda não recebemos o pagamento da fatura abaixo.',
      many: 'Lembramos que ainda não recebemos o pagamento das faturas abaixo.',
    },
    labels: {
      invoice: 'Fatura',
      amount: 'Valor',
      due: 'Vencimento',
      days: 'Dias em atraso',
      count: 'Número de faturas',
      total: 'Total',
    },
    close:
      'Se já fez o pagamento, agradecemos; por favor, desconsidere este e-mail. Caso contrário, pedimos que o efetue nos próximos dias. Se tiver alguma dúvida, basta responder a este e-mail.',
    bye: 'Atenciosamente,',
    more: (count, amount) => `e mais ${count} (${amount})`,
    steps: {
      before: {
        subject: { one: 'A fatura {{invoiceId}} vence em {{dueDate}}', many: 'Vencimento próximo: {{totalAmount}}' },
        text: {
          one: 'Informamos que a fatura abaixo vencerá em breve. Se o pagamento já estiver programado, agradecemos: não é preciso fazer mais nada.',
          many: 'Informamos que as faturas abaixo vencerão em breve. Se o pagamento já estiver programado, agradecemos: não é preciso fazer mais nada.',
        },
      },
      due: {
        subject: { one: 'O pagamento da fatura {{invoiceId}} vence em {{dueDate}}', many: 'Valor a pagar: {{totalAmount}}' },
        text: {
          one: 'Pedimos que observe a data de vencimento da fatura abaixo. Se o pagamento já estiver a caminho, agradecemos.',
          many: 'Pedimos que observe a data de vencimento das faturas abaixo. Se o pagamento já estiver a caminho, agradecemos.',
        },
      },
      firm: {
        subject: { one: 'A fatura {{invoiceId}} continua em aberto', many: 'Valor ainda em aberto: {{totalAmount}}' },
        text: {
          one: 'Já escrevemos sobre o pagamento abaixo e ainda não o recebemos. Pedimos que o efetue nos próximos 7 dias, ou que responda informando quando podemos esperá-lo. Se houver algo errado na fatura, por favor, avise-nos agora, para que possamos fazer a correção.',
          many: 'Já escrevemos sobre os pagamentos abaixo e ainda não os recebemos. Pedimos que os efetue nos próximos 7 dias, ou que responda informando quando podemos esperá-los. Se houver algo errado nas faturas, por favor, avise-nos agora, para que possamos fazer a correção.',
        },
      },
      final: {
        subject: { one: 'Último lembrete: fatura {{invoiceId}}', many: 'Último lembrete: {{totalAmount}}' },
        text: {
          one: 'Apesar dos nossos lembretes, o pagamento abaixo continua em aberto. Pedimos que seja efetuado no prazo de 7 dias a partir deste e-mail. Se não tivermos resposta até lá, teremos de considerar outras medidas para receber o valor. Se não puder pagar tudo agora, responda, para que possamos combinar uma data.',
          many: 'Apesar dos nossos lembretes, os pagamentos abaixo continuam em aberto. Pedimos que sejam efetuados no prazo de 7 dias a partir deste e-mail. Se não tivermos resposta até lá, teremos de considerar outras medidas para receber o valor. Se não puder pagar tudo agora, responda, para que possamos combinar uma data.',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `Pagar ${amount}`,
      seeAndPay: (amount) => `Ver e pagar ${amount}`,
      upi: 'Identificador UPI',
      qr: (amount) => `Código QR UPI de ${amount}`,
      received: (paid, total) => `Já recebemos ${paid} de ${total}, agradecemos.`,
      file: 'Baixar a fatura (PDF)',
      fileOf: (reference) => `Baixar ${reference} (PDF)`,
      question: 'Já pagou ou tem alguma dúvida?',
      tellUsThere: 'Avise-nos nessa página',
      orReply: ' ou responda a este e-mail.',
      reply: 'Por favor, responda a este e-mail.',
      sentWith: 'Enviado com Duely',
      bank: {
        accountName: 'Titular da conta',
        accountNumber: 'Número da conta',
        sortCode: 'Código do banco (sort code)',
        routingNumber: 'Código do banco (routing number)',
        reference: 'Referência',
      },
    },
  },
  it: {
    subject: {
      one: 'Promemoria di pagamento: la fattura {{invoiceId}} è scaduta il {{dueDate}}',
      many: 'Promemoria di pagamento: importo scaduto {{totalAmount}}',
    },
    greeting: 'Buongiorno {{clientName}},',
    opening: {
      one: 'Le ricordiamo cortesemente che non abbiamo ancora ricevuto il pagamento della fattura seguente.',
      many: 'Le ricordiamo cortesemente che non abbiamo ancora ricevuto il pagamento delle fatture seguenti.',
    },
    labels: {
      invoice: 'Fattura',
      amount: 'Importo',
      due: 'Scadenza',
      days: 'Giorni di ritardo',
      count: 'Numero di fatture',
      total: 'Totale',
    },
    close:
      'Se ha già provveduto al pagamento, la ringraziamo e la preghiamo di ignorare questa e-mail. In caso contrario, le saremmo grati se potesse provvedere nei prossimi giorni. Se qualcosa non è chiaro, risponda semplicemente a questa e-mail.',
    bye: 'Cordiali saluti',
    more: (count, amount) => `${count === 1 ? 'e un’altra' : `e altre ${count}`} (${amount})`,
    steps: {
      before: {
        subject: { one: 'La fattura {{invoiceId}} scade il {{dueDate}}', many: 'Prossima scadenza: {{totalAmount}}' },
        text: {
          one: 'Le segnaliamo che la fattura seguente scadrà a breve. Se il pagamento è già previsto, la ringraziamo: non occorre fare altro.',
          many: 'Le segnaliamo che le fatture seguenti scadranno a breve. Se il pagamento è già previsto, la ringraziamo: non occorre fare altro.',
        },
      },
      due: {
        subject: { one: 'Il pagamento della fattura {{invoiceId}} scade il {{dueDate}}', many: 'Importo da pagare: {{totalAmount}}' },
        text: {
          one: 'Le segnaliamo la scadenza della fattura seguente. Se il pagamento è già in corso, la ringraziamo.',
          many: 'Le segnaliamo la scadenza delle fatture seguenti. Se il pagamento è già in corso, la ringraziamo.',
        },
      },
      firm: {
        subject: { one: 'La fattura {{invoiceId}} non risulta ancora pagata', many: 'Importo ancora da pagare: {{totalAmount}}' },
        text: {
          one: 'Le abbiamo già scritto in merito al pagamento seguente ma non lo abbiamo ancora ricevuto. La preghiamo di provvedere entro 7 giorni, oppure di farci sapere quando possiamo attenderlo. Se nella fattura c’è un errore, la preghiamo di comunicarcelo ora, così che possiamo correggerlo.',
          many: 'Le abbiamo già scritto in merito ai pagamenti seguenti ma non li abbiamo ancora ricevuti. La preghiamo di provvedere entro 7 giorni, oppure di farci sapere quando possiamo attenderli. Se nelle fatture c’è un errore, la preghiamo di comunicarcelo ora, così che possiamo correggerlo.',
        },
      },
      final: {
        subject: { one: 'Ultimo promemoria: fattura {{invoiceId}}', many: 'Ultimo promemoria: {{totalAmount}}' },
        text: {
          one: 'Nonostante i nostri promemoria, il pagamento seguente non ci è ancora pervenuto. La preghiamo di provvedere entro 7 giorni da questa e-mail. Se entro tale termine non avremo sue notizie, dovremo valutare ulteriori azioni per recuperare l’importo. Se non può pagare tutto ora, ci risponda, così da concordare una data.',
          many: 'Nonostante i nostri promemoria, i pagamenti seguenti non ci sono ancora pervenuti. La preghiamo di provvedere entro 7 giorni da questa e-mail. Se entro tale termine non avremo sue notizie, dovremo valutare ulteriori azioni per recuperare l’importo. Se non può pagare tutto ora, ci risponda, così da concordare una data.',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `Paga ${amount}`,
      seeAndPay: (amount) => `Vedi e paga ${amount}`,
      upi: 'Identificativo UPI',
      qr: (amount) => `Codice QR UPI per ${amount}`,
      received: (paid, total) => `Abbiamo ricevuto ${paid} su ${total}, grazie.`,
      file: 'Scarica la fattura (PDF)',
      fileOf: (reference) => `Scarica ${reference} (PDF)`,
      question: 'Ha già pagato o ha una domanda?',
      tellUsThere: 'Ce lo comunichi su quella pagina',
      orReply: ', oppure risponda a questa e-mail.',
      reply: 'La preghiamo di rispondere a questa e-mail.',
      sentWith: 'Inviato con Duely',
      bank: {
        accountName: 'Intestatario del conto',
        accountNumber: 'Numero di conto',
        sortCode: 'Codice bancario (sort code)',
        routingNumber: 'Codice bancario (routing number)',
        reference: 'Causale',
      },
    },
  },
  nl: {
    subject: {
      one: 'Betalingsherinnering: factuur {{invoiceId}} verviel op {{dueDate}}',
      many: 'Betalingsherinnering: {{totalAmount}} achterstallig',
    },
    greeting: 'Beste {{clientName}},',
    opening: {
      one: 'Misschien is het u ontgaan: de betaling van onderstaande factuur hebben wij nog niet ontvangen.',
      many: 'Misschien is het u ontgaan: de betalingen van onderstaande facturen hebben wij nog niet ontvangen.',
    },
    labels: {
      invoice: 'Factuur',
      amount: 'Bedrag',
      due: 'Vervaldatum',
      days: 'Dagen te laat',
      count: 'Aantal facturen',
      total: 'Totaal',
    },
    close:
      'Hebt u inmiddels betaald, dan danken wij u en kunt u deze e-mail als niet verzonden beschouwen. Anders verzoeken wij u vriendelijk het bedrag in de komende dagen over te maken. Is iets niet duidelijk, beantwoord dan gewoon deze e-mail.',
    bye: 'Met vriendelijke groet,',
    more: (count, amount) => `en nog ${count} (${amount})`,
    steps: {
      before: {
        subject: { one: 'Factuur {{invoiceId}} vervalt op {{dueDate}}', many: 'Binnenkort te betalen: {{totalAmount}}' },
        text: {
          one: 'Een korte herinnering: de vervaldatum van onderstaande factuur nadert. Is de betaling al geregeld, dan danken wij u: u hoeft verder niets te doen.',
          many: 'Een korte herinnering: de vervaldatum van onderstaande facturen nadert. Is de betaling al geregeld, dan danken wij u: u hoeft verder niets te doen.',
        },
      },
      due: {
        subject: { one: 'Factuur {{invoiceId}} moet op {{dueDate}} betaald zijn', many: 'Te betalen: {{totalAmount}}' },
        text: {
          one: 'Graag wijzen wij u op de vervaldatum van onderstaande factuur. Is de betaling onderweg, dan danken wij u.',
          many: 'Graag wijzen wij u op de vervaldatum van onderstaande facturen. Is de betaling onderweg, dan danken wij u.',
        },
      },
      firm: {
        subject: { one: 'Factuur {{invoiceId}} is nog niet betaald', many: '{{totalAmount}} is nog niet betaald' },
        text: {
          one: 'Wij hebben u al geschreven over onderstaande betaling, maar hebben deze nog niet ontvangen. Wij verzoeken u binnen 7 dagen te betalen, of ons te laten weten wanneer wij de betaling kunnen verwachten. Klopt er iets niet aan de factuur, laat het ons dan nu weten, zodat wij het kunnen rechtzetten.',
          many: 'Wij hebben u al geschreven over onderstaande betalingen, maar hebben deze nog niet ontvangen. Wij verzoeken u binnen 7 dagen te betalen, of ons te laten weten wanneer wij de betalingen kunnen verwachten. Klopt er iets niet aan de facturen, laat het ons dan nu weten, zodat wij het kunnen rechtzetten.',
        },
      },
      final: {
        subject: { one: 'Laatste herinnering: factuur {{invoiceId}}', many: 'Laatste herinnering: {{totalAmount}}' },
        text: {
          one: 'Ondanks onze herinneringen staat onderstaande betaling nog open. Wij verzoeken u binnen 7 dagen na deze e-mail te betalen. Horen wij voor die tijd niets van u, dan moeten wij verdere stappen overwegen om het bedrag te innen. Kunt u nu niet alles betalen, laat het ons dan weten, zodat wij een datum kunnen afspreken.',
          many: 'Ondanks onze herinneringen staan onderstaande betalingen nog open. Wij verzoeken u binnen 7 dagen na deze e-mail te betalen. Horen wij voor die tijd niets van u, dan moeten wij verdere stappen overwegen om het bedrag te innen. Kunt u nu niet alles betalen, laat het ons dan weten, zodat wij een datum kunnen afspreken.',
        },
      },
    },
    pay: {
      colon: ': ',
      pay: (amount) => `${amount} betalen`,
      seeAndPay: (amount) => `Bekijken en ${amount} betalen`,
      upi: 'UPI-ID',
      qr: (amount) => `UPI-QR-code voor ${amount}`,
      received: (paid, total) => `${paid} van ${total} is ontvangen, dank u wel.`,
      file: 'Factuur downloaden (PDF)',
      fileOf: (reference) => `${reference} downloaden (PDF)`,
      question: 'Hebt u al betaald of hebt u een vraag?',
      tellUsThere: 'Laat het ons daar weten',
      orReply: ', of beantwoord deze e-mail.',
      reply: 'Beantwoord deze e-mail.',
      sentWith: 'Verzonden met Duely',
      bank: {
        accountName: 'Naam rekeninghouder',
        accountNumber: 'Rekeningnummer',
        sortCode: 'Bankcode (sort code)',
        routingNumber: 'Bankcode (routing number)',
        reference: 'Betalingskenmerk',
      },
    },
  },
}

/** A label and its value: `Rechnung: {{invoiceId}}`. */
const labelled = ({ pay }: Words, label: string, value: string) => `${label}${pay.colon}${value}`

/** The texts of an email in a language, about one invoice and about several: the greeting, a text, the facts, and what closes it. */
function emailIn(its: Words, about: { text: Pair; subject: Pair; days: boolean; close: string | null }) {
  const { labels, greeting, bye } = its
  const facts = [
    labelled(its, labels.amount, '<strong>{{amount}}</strong>'),
    labelled(its, labels.invoice, '<b>{{invoiceId}}</b>'),
    labelled(its, labels.due, '{{dueDate}}'),
    ...(about.days ? [labelled(its, labels.days, '{{daysOverdue}}')] : []),
  ]
  const sum = [labelled(its, labels.total, '<strong>{{totalAmount}}</strong>'), labelled(its, labels.count, '{{invoiceCount}}')]
  const email = (parts: (string | null)[]) => parts.filter((part) => part !== null).join('\n\n')
  const end = `${bye}\n{{userName}}`
  return {
    subject: about.subject.one,
    content: email([greeting, about.text.one, facts.join('\n'), about.close, end]),
    groupSubject: about.subject.many,
    groupContent: email([greeting, about.text.many, sum.join('\n'), '{{invoiceList}}', about.close, end]),
  }
}

/** The texts of the template, which are those of a friendly step, and of the other steps. */
export function textsIn(language: Other) {
  const its = words[language]
  const { before, due, firm, final } = its.steps
  return {
    friendly: emailIn(its, { text: its.opening, subject: its.subject, days: true, close: its.close }),
    before: emailIn(its, { ...before, days: false, close: null }),
    due: emailIn(its, { ...due, days: false, close: null }),
    firm: emailIn(its, { ...firm, days: true, close: null }),
    final: emailIn(its, { ...final, days: true, close: null }),
  }
}

/** A line of the list of invoices. */
export function listedIn(language: Other, line: { reference: string; amount: string; due: string; days: number | null }): string {
  const its = words[language]
  const parts = [
    labelled(its, line.reference, line.amount),
    labelled(its, its.labels.due, line.due),
    ...(line.days === null ? [] : [labelled(its, its.labels.days, String(line.days))]),
  ]
  return parts.join(', ')
}
