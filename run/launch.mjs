// Runs on whatever Node the machine has: plain JavaScript, nothing but what Node 20 brings along.
if (Number(process.versions.node.split('.')[0]) < 20) {
  process.stderr.write(`Duely needs Node 20 or later, this is ${process.versions.node}. See https://nodejs.org\n`)
  process.exit(1)
}
const { install } = await import('./install.mjs')
const { buildClient } = await import('./client.mjs')
const { codeOf, passSignalsOn, say } = await import('./process.mjs')

/** @type {Record<string, { build?: true, run?: string[] }>} */
const commands = {
  start: { build: true, run: ['server/start.ts'] },
  dev: { run: ['dev/dev.ts'] },
  duely: { run: ['server/duely.ts'] },
  build: { build: true },
  check: { run: ['run/check.ts'] },
  test: { run: ['run/test.ts'] },
  'test:unit': { run: ['run/test.ts', 'unit'] },
  'test:postgres': { run: ['run/test.ts', 'postgres'] },
  'test:zapier': { run: ['run/test.ts', 'zapier'] },
  'test:browser': { run: ['run/test.ts', 'browser'] },
  pictures: { run: ['run/pictures.ts'] },
  screens: { build: true, run: ['run/screens.ts'] },
  lighthouse: { build: true, run: ['run/lighthouse.ts'] },
  chaos: { run: ['chaos/run.ts'] },
  attack: { build: true, run: ['attack/run.ts'] },
  reference: { run: ['run/reference.ts'] },
  bench: { run: ['bench/reminders.ts'] },
  'bench:ledger': { build: true, run: ['bench/ledger.ts'] },
}

const [name = '', ...rest] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  say(`What shall be run? One of: ${Object.keys(commands).join(', ')}`)
  process.exit(1)
}
passSignalsOn()
const node = await install()
if (command.build) await buildClient(node)
// The channel tells the program when this process is gone, even where nothing could be said.
if (command.run) process.exit(await codeOf(node, [...command.run, ...rest], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] }))
