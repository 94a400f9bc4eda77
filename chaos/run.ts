import { asking } from './asking.ts'
import { clocks } from './clocks.ts'
import { crashes } from './crashes.ts'
import { data } from './data.ts'
import { databases } from './database.ts'
import { mailServers } from './mail-servers.ts'
import { tryThem } from './trials.ts'

process.exitCode = await tryThem({
  entry: import.meta.filename,
  command: 'chaos',
  usage: `npm run chaos -- [--only 1,2] [--short] [--seed N] [--write]

Crashes, stops, freezes and misleads the real program and counts the mails.
  --only   these rows alone
  --short  a small selection, in less than a minute
  --seed   replays the chances of an earlier run
  --write  keeps the result in docs/reliability.md
`,
  scenarios: [...crashes, ...databases, ...mailServers, ...clocks, ...asking, ...data],
  part: 'faults',
  what: 'fault',
  remarks: `Every mail was counted. "Repeated" are mails that a crash between the mail server's "accepted" and the record of it made leave once more:
the same bytes under the same Message-ID, which no order of these two steps can rule out.`,
})
