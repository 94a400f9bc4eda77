import { expect, test } from 'vitest'
import { engineFromTemplate } from '#test/harness.ts'
import { openStatements } from './embedded-statements.ts'

test('a statement is prepared once, and answers again after it was refused', async () => {
  await using engine = await engineFromTemplate()
  const say = openStatements(engine)
  const divide = 'SELECT 12 / $1::int AS result, $2::text[] AS names'
  expect((await say(divide, [3, '{asha,"ravi, or"}'])).rows).toEqual([{ result: 4, names: ['asha', 'ravi, or'] }])
  await expect(say(divide, [0, null])).rejects.toMatchObject({ code: '22012', severity: 'ERROR' })
  await expect(say('SELECT nothing', [])).rejects.toMatchObject({ code: '42703' })
  expect((await say(divide, [2, null])).rows).toEqual([{ result: 6, names: null }])
  const { rows } = await engine.query('SELECT statement FROM pg_prepared_statements')
  expect(rows).toEqual([{ statement: divide }])
})

test('a statement waits for an open transaction, and its change is kept', async () => {
  await using engine = await engineFromTemplate()
  const say = openStatements(engine)
  const add = `INSERT INTO leases (name, process_id, until) VALUES ($1::text, gen_random_uuid(), now())`
  const said = engine.transaction(async (tx) => {
    const added = say(add, ['later'])
    await tx.query(`INSERT INTO leases (name, process_id, until) VALUES ('earlier', gen_random_uuid(), now())`)
    await tx.rollback()
    return { added }
  })
  await (await said).added
  expect((await engine.query('SELECT name FROM leases')).rows).toEqual([{ name: 'later' }])
})
