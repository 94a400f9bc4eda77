import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { someoneAt, startProgram } from '#test/program.ts'
import { toldTo } from '#test/webhooks.ts'

const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-03-31' }

test('an account whose receivers all hang delays no other account', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-places-'))
  await using hanging = await openFakeReceiver()
  await using receiver = await openFakeReceiver()
  await using program = await startProgram({ DATA_DIR: folder, HOOK_ALLOW_PRIVATE_HOSTS: 'true' })
  hanging.answer('silence')
  const asha = await someoneAt(program.url, 'asha@example.com')
  const meera = await someoneAt(program.url, 'meera@example.com')
  const events = ['invoice.created']
  for (let nth = 0; nth < 20; nth += 1) await asha.send('POST', '/webhooks', { url: `${hanging.url}/${nth}`, events })
  for (let nth = 0; nth < 20; nth += 1)
    await asha.send('POST', '/zapier/hooks', { hookUrl: `${hanging.url}/zap/${nth}`, event: 'invoice.created' })
  await asha.send('POST', '/zapier/subscribe')
  await meera.send('POST', '/webhooks', { url: `${receiver.url}/duely`, events })

  await asha.send('POST', '/invoice', kaveri)
  await vi.waitFor(() => expect(hanging.calls.length).toBe(8), { timeout: 8_000 })
  await meera.send('POST', '/invoice', kaveri)
  // Long before the ten seconds after which the first hanging one is given up.
  await vi.waitFor(() => expect(toldTo(receiver)).toHaveLength(1), { timeout: 8_000 })
  rmSync(folder, { recursive: true, force: true })
})
