// Runs on the machine's own Node before anything is installed, so it must be plain JavaScript for Node 20.
if (Number(process.versions.node.split('.')[0]) < 20) {
  process.stderr.write(`Duely needs Node 20 or later, this is ${process.versions.node}. See https://nodejs.org\n`)
  process.exit(1)
}
const { install, root } = await import('./install.mjs')
const { buildClient } = await import('./client.mjs')
const { codeOf, passSignalsOn, say } = await import('./process.mjs')

/** @type {Record<string, { tools?: false, build?: true, run?: string[] }>} */
const commands = {
  start: { tools: false, build: true, run: ['server/start.ts'] },
  duely: { tools: false, run: ['server/duely.ts'] },
  build: { tools: false, build: true },
  dev: { run: ['dev/dev.ts'] },
  demo: { build: true, run: ['dev/demo.ts'] },
  check: { run: ['run/check.ts'] },
  test: { run: ['run/test.ts'] },
  'test:full': { run: ['run/test.ts', 'full'] },
  'test:unit': { run: ['run/test.ts', 'unit'] },
  'test:postgres': { run: ['run/test.ts', 'postgres'] },
  'test:zapier': { run: ['run/test.ts', 'zapier'] },
  'test:browser': { run: ['run/test.ts', 'browser'] },
  pictures: { run: ['run/pictures.ts'] },
  screens: { build: true, run: ['run/screens.ts'] },
  lighthouse: { build: true, run: ['run/lighthouse.ts'] },
  'spam-check': { run: ['test/real-mail/spam-check.ts'] },
  chaos: { run: ['run/reliability.ts', 'faults'] },
  attack: { build: true, run: ['run/reliability.ts', 'attacks'] },
  reference: { run: ['run/reference.ts'] },
  bench: { run: ['bench/reminders.ts'] },
  'bench:calls': { run: ['bench/calls.ts'] },
  'bench:scale': { run: ['bench/scale.ts'] },
  'bench:insights': { run: ['bench/insights.ts'] },
  'bench:plan': { run: ['bench/plan.ts'] },
  soak: { build: true, run: ['bench/soak.ts'] },
  simulate: { run: ['test/simulation/simulate.ts'] },
  'simulate-smart': { run: ['bench/smart.ts'] },
  'bench:ledger': { build: true, run: ['bench/ledger.ts'] },
  format: { run: ['node_modules/@biomejs/biome/bin/biome', 'check', '--write'] },
  migration: { run: ['run/migration.ts'] },
}

const [name = '', ...rest] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  say(`Unknown command. Use one of: ${Object.keys(commands).join(', ')}`)
  process.exit(1)
}
passSignalsOn()
const node = await install({ tools: command.tools ?? true })
if (command.build) await buildClient(node)
// What Node makes of the sources is kept for the next start. Where this folder can't be written, it starts as it does the first time.
const env = { NODE_COMPILE_CACHE: `${root}/node_modules/.cache/duely/compiled`, ...process.env }
// Closing the IPC channel stops the program when this process is killed and can't pass a signal on.
if (command.run) process.exit(await codeOf(node, [...command.run, ...rest], { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] }))
