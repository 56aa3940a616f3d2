import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink, openStreamManager, streamLog } from '@opsplane/nats'
import { connect, type Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import {
  createDatabase,
  type TestDatabase,
  testLogin,
  testNatsUrl,
  uniquePrefix,
  waitFor,
} from '@opsplane/testing'
import { workflows } from '../service.js'
import { startBusTriggers } from './bus.js'

const log = createLogger({ service: 'test', level: 'silent' })
const names = natsNames(uniquePrefix())
let testDatabase: TestDatabase
let database: Database
let link: NatsLink
beforeAll(async () => {
  link = connectNats({ url: testNatsUrl(), name: 'test', log })
  testDatabase = await createDatabase()
  const url = await workflows.provision({ adminUrl: testDatabase.url, ...testLogin })
  database = connect(url, { schema: workflows.schema })
})
afterAll(async () => {
  await database?.close()
  await testDatabase?.drop()
  await link?.close()
})

it('bus triggers miss no event of a stream recreated while disconnected, and skip events before their first start', async () => {
  const trigger = { type: 'event_bus', topic: 'orders' }
  const state = { status: 'active', place: 'ws_1/production', trigger }
  await database.sql`insert into workflows (id, workspace_id, environment, version, state)
    values ('wfl_1', 'ws_1', 'production', 1, ${database.sql.json(state)})`
  const started: unknown[] = []
  const listen = () =>
    startBusTriggers(
      { config: { natsAckWaitMs: 30_000 }, link, names, log, database },
      {
        async start(_, __, { event }) {
          started.push(event)
          return null
        },
      },
    )
  const say = async (type: string) => {
    const message = { type, payload: {}, createdAt: new Date().toISOString() }
    const subject = names.topicSubject('ws_1', 'production', 'orders')
    await streamLog(link, names.topicsStream).append(subject, JSON.stringify(message))
  }
  const { consumers, streams } = await openStreamManager(await link.ready())

  await ensureStreams(link, names)
  await say('before')
  const first = listen()
  await waitFor(() => consumers.info(names.topicsStream, 'workflows-bus').catch(() => undefined))
  await say('matched')
  await waitFor(() => started.length === 1)
  await first.close()

  await streams.delete(names.topicsStream)
  await ensureStreams(link, names)
  await say('unmatched')
  const second = listen()
  await waitFor(() => started.length === 2)
  expect(started).toMatchObject([{ type: 'matched' }, { type: 'unmatched' }])
  await second.close()
})
