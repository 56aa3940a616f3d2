import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { natsNames, PlatformEvent } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'
import { openManager } from './fixture/stream-messages.js'
import {
  log,
  meta,
  openTestStore,
  openTicketArguments,
  schema,
  type TestStore,
  tenant,
} from './fixture/test-database.js'
import { ticketDecider } from './fixture/ticket.js'
import { appendJournal, type JournalEntry } from './journal.js'
import { rebuild } from './rebuild/rebuild.js'
import { startRelay } from './relay/relay.js'
import { republishEvents } from './relay/republish-events.js'

let testStore: TestStore
let link: NatsLink
beforeAll(async () => {
  testStore = await openTestStore()
  link = connectNats({ url: testNatsUrl(), name: 'journal-test', log })
  // A plain table; every change of it appends an event that describes the change.
  await testStore.database.sql.unsafe(`
    create table cells (id text primary key, value text);
    create function tell() returns trigger language plpgsql as $$ begin
      perform append_journal('cells', coalesce(new.id, old.id), 'ws_1', 'production',
        'cell.' || lower(tg_op), '{"id":"usr_1","name":"Ann","type":"user"}',
        json_build_object('type', 'cell', 'id', coalesce(new.id, old.id), 'displayName', 'A cell'),
        json_build_object('before', case when tg_op <> 'INSERT' then json_build_object('value', old.value) end,
          'after', case when tg_op <> 'DELETE' then json_build_object('value', new.value) end, 'changes', array['value']));
      return null;
    end $$;
    create trigger tell after insert or update or delete on cells for each row execute function tell();`)
})
afterAll(async () => {
  await link.close()
  await testStore.close()
})

const sql = () => testStore.database.sql
const eventsOf = (id: string) => sql()<{ id: string; version: number; type: string }[]>`
  select id, version, type from events where stream_id = ${id} order by position`
const entry = (streamId: string, overrides: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ streamType: 'steps', streamId, tenant, type: 'step.taken', actor: meta().actor },
  resource: { type: 'step', id: streamId, displayName: 'A step' },
  data: { before: null, after: { at: 1 }, changes: ['at'] },
  ...overrides,
})

describe('a journal', () => {
  test('is written by triggers, published and republished like other events, and skipped by a rebuild', async () => {
    const names = natsNames(uniquePrefix())
    const range = { databaseUrl: testStore.url, schema, link, names }
    const { tickets } = testStore.replica()
    const [ticket, open] = openTicketArguments()
    await tickets.create(ticket, open, meta())
    await sql()`insert into cells values ('c1', 'a'), ('c2', 'a')`
    await sql()`update cells set value = 'b' where id = 'c1'`
    await sql()`delete from cells where id = 'c1'`
    const events = await eventsOf('c1')
    expect(events.map(({ version, type }) => [version, type])).toEqual([
      [1, 'cell.insert'],
      [2, 'cell.update'],
      [3, 'cell.delete'],
    ])
    for (const { id } of events) expect(id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/)

    const relay = startRelay({ ...testStore, ...range, instanceId: 'journal', log })
    await waitFor(async () => (await sql()`select from outbox limit 1`).length === 0)
    await relay.close()
    const { events: folded } = await rebuild({
      ...{ adminUrl: testStore.url, schema, deciders: [ticketDecider], projectedTables: ['ticket_titles'] },
    })
    expect(folded).toBe(1)
    expect(await tickets.find(ticket, tenant)).toMatchObject({ version: 1 })

    const manager = await openManager(link)
    await manager.streams.delete(names.eventsStream)
    expect(await republishEvents({ ...range, toPosition: 100 })).toEqual({ published: 5 })
    const { state } = await manager.streams.info(names.eventsStream)
    const published: PlatformEvent[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(names.eventsStream, { seq })
      if (message) published.push(PlatformEvent.parse(message.json()))
    }
    const own = published.filter(({ resource }) => resource.id === 'c1')
    expect(own.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    expect(own[1]?.data).toEqual({
      ...{ version: own[1]?.version, before: { value: 'a' }, after: { value: 'b' }, changes: ['value'] },
    })
  })

  test('has versions without gaps under concurrent writes', async () => {
    const replicas = [testStore.replica(), testStore.replica()]
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        appendJournal(replicas[at % 2]?.database.sql ?? sql(), entry(`run-${at % 3}`)),
      ),
    )
    for (const run of ['run-0', 'run-1', 'run-2'])
      expect((await eventsOf(run)).map(({ version }) => version)).toEqual(
        Array.from({ length: 20 }, (_, at) => at + 1),
      )
  })

  test('is rolled back with the transaction that writes it', async () => {
    const undone = sql().begin(async (tx) => {
      await tx`insert into cells values ('c3', 'a')`
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    expect(await eventsOf('c3')).toEqual([])
  })

  test('rejects an event too large for a message, and a stream of another workspace or type', async () => {
    const large = sql()`insert into cells values ('c4', ${'x'.repeat(1_100_000)})`
    await expect(large).rejects.toMatchObject({
      code: '54000',
      message: expect.stringMatching(/^the data of cell.insert of c4 has 1100\d+ bytes$/),
      hint: 'An event may have at most 1040384 bytes of data.',
    })
    expect(await sql()`select from cells where id = 'c4'`).toEqual([])

    await appendJournal(sql(), entry('run-9'))
    const foreign = { tenant: { ...tenant, workspaceId: 'ws_2' } }
    await expect(appendJournal(sql(), entry('run-9', foreign))).rejects.toMatchObject({ code: '23505' })
    const { tickets } = testStore.replica()
    const [ticket, open] = openTicketArguments()
    await tickets.create(ticket, open, meta())
    await expect(appendJournal(sql(), entry(ticket))).rejects.toMatchObject({ code: '23505' })
    await expect(tickets.create('run-9', { ...open, id: 'run-9' }, meta())).rejects.toMatchObject({
      code: 'conflict',
    })
  })
})
