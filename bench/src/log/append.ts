import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { provisionService } from '@opsplane/eventstore'
import postgres from 'postgres'
import { requestFromChild, startChild } from '../child.js'
import { median } from '../load.js'
import type { Figure } from '../report.js'
import type { MeasureOptions } from './creates.js'

const schema = 'append'
const rounds = 3
const migrationsDir = fileURLToPath(new URL('../../../services/settings/migrations', import.meta.url))

/**
 * Measures events appended to a log without readers, with their read-model rows, compared with plain inserts of the
 * same two rows as pgbench would make them: a separate prepared statement for each, over the same number of
 * connections.
 */
export async function measureAppend({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const { postgresUrl } = cluster.info
  const url = await provisionService({
    adminUrl: postgresUrl,
    service: schema,
    password: randomUUID(),
    migrationsDir,
    installation: cluster.secrets.installation,
  })
  await copyTables(postgresUrl)
  const start = (mode: 'store' | 'inserts') =>
    startChild('log/append-process.js', { MODE: mode, DATABASE_URL: mode === 'store' ? url : postgresUrl })
  const [store, inserts] = [await start('store'), await start('inserts')]
  const appended: number[] = []
  const inserted: number[] = []
  say('Appending…')
  for (const { child } of [store, inserts]) await requestFromChild(child, '2')
  for (let round = 1; round <= rounds; round++) {
    inserted.push(await requestFromChild<number>(inserts.child, String(seconds)))
    appended.push(await requestFromChild<number>(store.child, String(seconds)))
    say(
      `  round ${round}: inserts ${inserted.at(-1)?.toFixed(0)}/s, appends ${appended.at(-1)?.toFixed(0)}/s`,
    )
  }
  store.child.kill()
  inserts.child.kill()
  const [perSecond, limit] = [median(appended), median(inserted)]
  return [
    {
      name: 'appended events',
      value: `${perSecond.toFixed(0)}/s`,
      raw: `${limit.toFixed(0)}/s plain inserts of event and row`,
      ratio: perSecond / limit,
      goal: '',
      met: true,
    },
  ]
}

async function copyTables(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`
    drop schema if exists inserts cascade;
    create schema inserts;
    create table inserts.events (like ${schema}.events including all);
    create table inserts.roles (like ${schema}.roles including all);`)
  await sql.end()
}
