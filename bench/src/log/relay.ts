import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { natsNames, newId } from '@opsplane/contracts'
import { provisionService, startRelay } from '@opsplane/eventstore'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { connect, type Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import postgres from 'postgres'
import { median } from '../load.js'
import type { Figure } from '../report.js'
import type { MeasureOptions } from './creates.js'

const schema = 'relayed'
const rounds = 3
const events = 20_000
const inFlight = 256
const migrationsDir = fileURLToPath(new URL('../../../services/settings/migrations', import.meta.url))
const log = createLogger({ service: 'bench', level: 'silent' })
/** About the size of an incident's event. */
const data = { before: null, after: { text: 'x'.repeat(1_500) }, changes: ['text'] }

/**
 * Measures events waiting in an outbox that a relay publishes, compared with the same number of bare publishes of
 * the same size.
 */
export async function measureRelay({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const { postgresUrl, natsUrl } = cluster.info
  const password = randomUUID()
  const databaseUrl = await provisionService({
    adminUrl: postgresUrl,
    service: schema,
    password,
    migrationsDir,
    installation: cluster.secrets.installation,
  })
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => {}, connection: { search_path: schema } })
  const database = connect(databaseUrl, { schema })
  const link = connectNats({ url: natsUrl, name: 'bench-relay', log })
  const relayed: number[] = []
  const published: number[] = []
  say('Relaying…')
  try {
    await sql`select add_event_month(current_date)`
    for (let round = 1; round <= rounds; round++) {
      published.push(await barePublishes(link))
      await fill(sql)
      relayed.push(await relay(sql, database, link))
      say(`  round ${round}: bare ${published.at(-1)?.toFixed(0)}/s, relayed ${relayed.at(-1)?.toFixed(0)}/s`)
    }
  } finally {
    await link.close()
    await database.close()
    await sql.end()
  }
  const [perSecond, limit] = [median(relayed), median(published)]
  return [
    {
      name: 'relayed events',
      value: `${perSecond.toFixed(0)}/s`,
      raw: `${limit.toFixed(0)}/s bare publishes of the same size`,
      ratio: perSecond / limit,
      goal: '',
      met: true,
    },
  ]
}

async function fill(sql: postgres.Sql): Promise<void> {
  const ids = Array.from({ length: events }, () => newId('event'))
  await sql.unsafe(
    `with appended as (
       insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
         created_at)
       select id, 'bench', 'stream-' || id, 1, 'role.created', 'ws_' || place % 10, 'production',
         '{"id":"usr_bench","name":"Bench","type":"user"}', '{"type":"role","id":"x","displayName":"x"}', $2, now()
       from unnest($1::text[]) with ordinality as t (id, place) returning position, workspace_id, id)
     insert into outbox (position, workspace_id, event_id) select * from appended`,
    [ids, JSON.stringify(data)],
  )
}

/** Measured from its start to the last acknowledgement. */
async function relay(sql: postgres.Sql, database: Database, link: NatsLink): Promise<number> {
  const names = natsNames('benchrelay')
  const startedAt = performance.now()
  const running = startRelay({ database, schema, link, names, instanceId: 'bench', log })
  while (running.counters().published < events) await new Promise((resolve) => setTimeout(resolve, 5))
  const perSecond = events / ((performance.now() - startedAt) / 1000)
  await running.close()
  await sql`truncate events, outbox`
  return perSecond
}

async function barePublishes(link: NatsLink): Promise<number> {
  const connection = await link.ready()
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'BARE', subjects: ['bare.>'] })
  const client = jetstream(connection)
  const body = JSON.stringify({ ...data, padding: 'x'.repeat(400) })
  let left = events
  const startedAt = performance.now()
  const publisher = async () => {
    while (left-- > 0) await client.publish('bare.event', body, { msgID: newId('event') })
  }
  await Promise.all(Array.from({ length: inFlight }, publisher))
  const perSecond = events / ((performance.now() - startedAt) / 1000)
  await manager.streams.delete('BARE')
  return perSecond
}
