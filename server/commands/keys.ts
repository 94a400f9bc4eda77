import { sealedFactors } from '#server/accounts/accounts.ts'
import { sealedWebhooks } from '#server/integrations/integrations.ts'
import { sealedSenders } from '#server/mail/mail.ts'
import { sealedPayKeys, sealedPayLinks } from '#server/pay/pay.ts'
import { reseal, type SealedColumn } from '#server/platform/reseal.ts'
import { beginRotation, endRotation } from '#server/platform/secret-key.ts'
import { sealedSystemMails } from '#server/platform/system-mail.ts'
import type { Command } from './command.ts'

/** Where secrets are stored, encrypted. */
export const sealedColumns: SealedColumn[] = [
  ...sealedSenders,
  sealedFactors,
  sealedWebhooks,
  sealedSystemMails,
  sealedPayLinks,
  ...sealedPayKeys,
]

export const rotateKeys: Command = {
  parameters: [],
  summary: 'rotates the secret key in two steps, while Duely runs',
  help: [
    'The first run brings a new key, or says how to. Restart every process; the second run encrypts every secret with the new key and drops the old one.',
  ],
  async run({ db, config }) {
    const kept = config.secretKeyGiven ? null : config.dataDir
    const { secretKey } = config
    if (!secretKey.includes('\n')) {
      if (kept === null)
        return ['Start every process with a new SECRET_KEY and the current one as SECRET_KEY_BEFORE. Then run rotate-keys again.']
      beginRotation(secretKey, kept)
      return [`Added a new key to ${kept}/secret-key. Restart Duely, then run rotate-keys again.`]
    }
    const counts = []
    for (const column of sealedColumns) counts.push(await reseal(db, secretKey, column))
    const done = counts.reduce((sum, one) => sum + one.done, 0)
    const closed = counts.reduce((sum, one) => sum + one.closed, 0)
    await endRotation(db, { secretKey, dataDir: kept })
    return [
      `${done} ${done === 1 ? 'secret was' : 'secrets were'} re-encrypted with the new key.`,
      ...(closed > 0 ? [`${closed} could not be decrypted with either key and were left unchanged.`] : []),
      kept === null ? 'SECRET_KEY_BEFORE is no longer needed. Remove it.' : 'The previous key is no longer needed and was deleted.',
    ]
  },
}
