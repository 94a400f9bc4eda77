import { PGlite } from '@electric-sql/pglite'
import { templateFiles } from '#test/template.ts'
import { Engine } from './engine.ts'
import { Machine } from './machine.ts'
import { type SimulationOptions, type SimulationResult, simulate } from './simulation.ts'

/** The one machine of this program: it replaces what Node says of time and chance. */
const machine = new Machine()
/** What is run once before the first seed, so that most statements are planned already. */
const warmUp: SimulationOptions[] = [39, 36, 54].map((seed) => ({ seed, days: 1, accounts: 3 }))

/** Above this many days a larger cache saves more time than restoring its memory costs. */
const longDays = 10

let opened: { engine: Engine; restore(): Promise<void> } | null = null

/** Runs one seed on an empty database, which is the same for every seed. */
export async function runSeed(options: SimulationOptions): Promise<SimulationResult> {
  opened ??= await open(options.days > longDays ? '512MB' : '16MB')
  const result = await simulate(machine, opened.engine, options)
  await opened.restore()
  return result
}

export async function closeSeeds(): Promise<void> {
  await opened?.engine.close()
  opened = null
}

async function open(buffers: string) {
  const engine = new Engine({
    loadDataDir: await templateFiles(),
    // Whether a plan is made for certain values would depend on how often its statement was used.
    startParams: [...PGlite.defaultStartParams, '-c', 'plan_cache_mode=force_generic_plan', '-c', `shared_buffers=${buffers}`],
  })
  await engine.waitReady
  for (const options of warmUp) {
    await simulate(machine, engine, options)
    await emptyTables(engine)
  }
  return { engine, restore: engine.keep() }
}

/** Deletes all rows. TRUNCATE would make plans invalid. */
async function emptyTables(engine: PGlite): Promise<void> {
  await engine.exec(`SET session_replication_role = replica;
    DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE 'DELETE FROM ' || name;
      END LOOP;
    END $$;
    SET session_replication_role = origin`)
}
