import { listOauthClients, registerOauthClient, removeOauthClient } from '#server/integrations/integrations.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import type { Command } from './command.ts'

export const addOauthClient: Command = {
  parameters: ['NAME', 'REDIRECT_URI[,…]', '[public]'],
  summary: 'registers an OAuth client and prints its ID and secret; public: a client that cannot keep a secret',
  help: ['The secret is shown this once: only a hash of it is stored.'],
  async run({ db, clock }, [name = '', uris = '', kind]) {
    if (kind !== undefined && kind !== 'public') throw new ProblemError('invalid', `Write public or nothing instead of ${kind}.`)
    const redirectUris = uris.split(',').map((uri) => uri.trim())
    const { id, secret } = await registerOauthClient(db, { name, redirectUris, kind: kind ?? 'confidential' }, clock.now())
    return [`client_id: ${id}`, secret === null ? 'It has no secret and must use PKCE.' : `client_secret: ${secret}`]
  },
}

export const listOauthClientsCommand: Command = {
  parameters: [],
  summary: 'lists the registered OAuth clients; Zapier is configured in the environment',
  async run({ db }) {
    const found = await listOauthClients(db)
    if (found.length === 0) return ['No OAuth client is registered.']
    return found.map(({ id, name, secretHash, redirectUris }) =>
      [id, name, secretHash === null ? 'public' : 'confidential', redirectUris.join(',')].join('  '),
    )
  },
}

export const removeOauthClientCommand: Command = {
  parameters: ['ID'],
  summary: 'removes an OAuth client and revokes its grants',
  run: async ({ db }, [id = '']) => [`${await removeOauthClient(db, id)} was removed and its grants were revoked.`],
}
