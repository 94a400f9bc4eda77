import { tryThem } from '#chaos/trials.ts'
import { googleAttacks } from './google.ts'
import { hookAttacks } from './hooks.ts'
import { injections } from './injection.ts'
import { integrationAttacks } from './integrations.ts'
import { furnish } from './names.ts'
import { outsideAttacks } from './outside.ts'
import { scopeAttacks } from './scopes.ts'
import { secretAttacks } from './secrets.ts'
import { signInAttacks } from './signing-in.ts'
import { wallAttacks } from './walls.ts'

process.exitCode = await tryThem({
  entry: import.meta.filename,
  command: 'attack',
  usage: `npm run attack -- [--only 49,63] [--short] [--seed N] [--write]

Attacks the real program as somebody with an account, a mail server, a name server or a page of their own would.
  --only   these rows alone
  --short  a small selection, in less than a minute
  --seed   replays the chances of an earlier run
  --write  keeps the result in docs/reliability.md
`,
  scenarios: [
    ...googleAttacks,
    ...integrationAttacks,
    ...signInAttacks,
    ...scopeAttacks,
    ...hookAttacks,
    ...outsideAttacks,
    ...wallAttacks,
    ...injections,
    ...secretAttacks,
  ],
  part: 'attacks',
  what: 'attack',
  remarks: `The calls are those of the contract itself, so that a new one is attacked from its first day. "Refused" is counted by status and code, never by
words. In a network of its own nothing but loopback is there, which has addresses that count as public, private and special.`,
  furnish,
})
