import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { templateFile } from '#test/template.ts'
import { Machine } from './machine.ts'
import { type SimulationOptions, type SimulationResult, simulate } from './simulation.ts'

/** The one machine of this program: it replaces what Node says of time and chance. */
const machine = new Machine()
/** Seeds for which one database is used: emptying it is several times faster than making one, and what it has cached grows. */
const seedsOfOne = 100

let engine: PGlite | null = null
let used = 0

/** Runs one seed on an empty database. */
export async function runSeed(options: SimulationOptions): Promise<SimulationResult> {
  if (used >= seedsOfOne) await closeSeeds()
  engine ??= await PGlite.create({ loadDataDir: new Blob([readFileSync(await templateFile())]) })
  used += 1
  const result = await simulate(machine, engine, options)
  await emptyTables(engine)
  return result
}

export async function closeSeeds(): Promise<void> {
  await engine?.close()
  engine = null
  used = 0
}

/** Leaves nothing from which a statement could take another order of rows: neither files of tables nor statistics. */
async function emptyTables(engine: PGlite): Promise<void> {
  await engine.exec(`DO $$
    DECLARE name text; filled boolean; names text := '';
    BEGIN
      FOR name IN SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO filled;
        IF filled THEN names := concat_ws(', ', nullif(names, ''), name); END IF;
      END LOOP;
      IF names <> '' THEN EXECUTE 'TRUNCATE ' || names || ' RESTART IDENTITY CASCADE'; END IF;
      DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
    END $$`)
}
