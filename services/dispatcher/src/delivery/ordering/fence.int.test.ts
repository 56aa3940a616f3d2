import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { PlatformEvent, Webhook } from '@opsplane/contracts'
import type { RunningService } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { buildEventId } from '../../fixture/days.js'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

const hourMs = 3_600_000
const consumer = 'dispatcher-delivery-fanout'

let fixture: DispatcherFixture
let other: RunningService | undefined
beforeAll(async () => {
  fixture = await startDispatcher()
  other = await fixture.service.replica()
})
afterAll(async () => {
  await other?.stop()
  await fixture?.stop()
})

let positions = 0
const nextPosition = () => ++positions
/** Fields of an event from a service whose clock differs by `offMs`. */
const skewed = (type: string, offMs: number): Partial<PlatformEvent> => ({
  type,
  id: buildEventId(Date.now() + offMs),
  createdAt: new Date(Date.now() + offMs).toISOString(),
})
const publish = (type: string, { offMs = 0, position = nextPosition() } = {}) =>
  fixture.publish(skewed(type, offMs), position)
/** Publishes the event again, as after a loss of the stream. */
const again = (event: PlatformEvent, position: number) => fixture.publish(event, position)
const idsTo = (name: string) => fixture.requestsTo(name).map(({ headers }) => headers['webhook-id'])
const marked = async (position: number) => {
  const rows = await fixture.service
    .sql`select from fan_out_marks where source = 'itsm' and ${position}::bigint = any (positions)`
  return rows.length > 0
}
/** Ids of the events delivered to a webhook. Complete for all events published before one that has been handled. */
const eventsOf = async (webhook: Webhook) =>
  (await createDeliveryReader(fixture, webhook.id).list('?limit=200')).map(({ eventId }) => eventId).sort()

describe('a new webhook', () => {
  it.each([
    ['in time', 0],
    ['an hour behind', -hourMs],
    ['an hour ahead', hourMs],
  ])(
    'receives every event accepted after its creation, by any replica, with clocks %s',
    async (name, offMs) => {
      const type = name.replaceAll(' ', '_')
      const accepted: string[] = []
      // An existing webhook makes both replicas load the tenant.
      const before = await fixture.webhook(`${type}_before`, { events: [`${type}.*`] })
      for (let round = 0; round < 15; round++) {
        const webhook = await fixture.webhook(`${type}_${round}`, { events: [`${type}.*`] })
        const event = await publish(`${type}.created`, { offMs })
        accepted.push(event.id)
        await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
        expect(await eventsOf(webhook)).toEqual([event.id])
        await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
      }
      expect(await eventsOf(before)).toEqual(accepted.sort())
    },
  )

  it.each([0, -hourMs, hourMs])(
    'receives no event that was fanned out before its creation, with clocks %d ms off',
    async (offMs) => {
      const type = `refilled_${offMs < 0 ? 'behind' : offMs}`
      const events = `${type}.*`
      const place = new Map<PlatformEvent, number>()
      const send = async () => {
        const position = nextPosition()
        const event = await publish(`${type}.created`, { offMs, position })
        place.set(event, position)
        return event
      }
      // One event matches a webhook; the other matches none, so no delivery row contains it.
      const unseen = await send()
      await waitFor(() => marked(place.get(unseen) ?? 0))
      const old = await fixture.webhook(`${type}_old`, { events: [events] })
      const seen = await send()
      await createDeliveryReader(fixture, old.id).having('succeeded', 1)

      const young = await fixture.webhook(`${type}_young`, { events: [events] })
      for (const event of [unseen, seen]) await again(event, place.get(event) ?? 0)
      const last = await send()
      for (const event of [unseen, seen, last]) await again(event, place.get(event) ?? 0)
      await createDeliveryReader(fixture, young.id).having('succeeded', 1)
      expect(await eventsOf(young)).toEqual([last.id])
      expect(await eventsOf(old)).toEqual([seen.id, last.id].sort())
      expect(new Set(idsTo(`${type}_young`))).toEqual(new Set([last.id]))
    },
  )

  it('receives an event with an earlier log position that is committed after its creation', async () => {
    const [late, early] = [nextPosition(), nextPosition()]
    const first = await publish('late.created', { position: early })
    await waitFor(() => marked(early))
    const webhook = await fixture.webhook('late')
    const event = await publish('late.created', { position: late })
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    await again(first, early)
    const last = await publish('late.updated')
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 2)
    expect(await eventsOf(webhook)).toEqual([event.id, last.id].sort())
  })

  it("is fenced at the consumer's floor once single positions below it are no longer stored", async () => {
    const { sql } = fixture.service
    const event = await publish('floored.created')
    const position = positions
    await waitFor(() => marked(position))
    await sql`insert into consumer_floors (consumer, source, position) values (${consumer}, 'itsm', ${position})
      on conflict (consumer, source) do update set position = excluded.position`
    await waitFor(async () => !(await marked(position)))
    const webhook = await fixture.webhook('floored')
    await again(event, position)
    const next = await publish('floored.created')
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    expect(await eventsOf(webhook)).toEqual([next.id])
    const fences = await sql`
      select floor::int, done from webhook_fences where webhook_id = ${webhook.id} and source = 'itsm'`
    expect(fences).toMatchObject([{ floor: position, done: [] }])
  })

  it('is fenced behind everything fanned out above a floor that does not advance, stored as ranges', async () => {
    const { sql } = fixture.service
    const first = nextPosition()
    const gap = first + 5_000
    positions += 10_000
    const last = positions
    await sql`
      insert into fan_out_marks (source, last, positions)
      select 'itsm', ${last}, array_agg(p) from generate_series(${first}::bigint, ${last}::bigint) p where p <> ${gap}`
    const webhook = await fixture.webhook('runs')
    const [fence] = await sql<{ edges: number }[]>`
      select cardinality(done) as edges from webhook_fences where webhook_id = ${webhook.id} and source = 'itsm'`
    expect(fence?.edges).toBeLessThan(100)
    for (const position of [first, gap - 1, gap + 1, last]) await publish('runs.created', { position })
    const events = [await publish('runs.created', { position: gap }), await publish('runs.created')]
    await createDeliveryReader(fixture, webhook.id).having('succeeded', 2)
    expect(await eventsOf(webhook)).toEqual(events.map(({ id }) => id).sort())
  })

  it('is created only after the present fan-out of its tenant', async () => {
    const { sql } = fixture.service
    const { workspaceId = '' } = fixture.principal
    const position = nextPosition()
    await fixture.webhook('earlier')
    let created: Promise<Webhook> | undefined
    let refusals = 0
    // The store gives up waiting for a lock after a while.
    const create = (): Promise<Webhook> =>
      fixture.webhook('concurrent').catch(() => {
        refusals++
        return create()
      })
    const waiting = () =>
      sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await sql.begin(async (tx) => {
      await tx`
        select from webhook_revisions where workspace_id = ${workspaceId} and environment = 'production' for share`
      await tx`
        insert into fan_out_marks (source, last, positions)
        values ('itsm', ${position}, array[${position}]::bigint[])`
      created = create()
      await waitFor(async () => refusals > 0 || (await waiting()).length > 0)
      expect(await sql`select from webhooks where state->>'name' = 'concurrent'`).toHaveLength(0)
    })
    const webhook = await created
    const [fence] = await sql<{ done: string[] }[]>`
      select done from webhook_fences where webhook_id = ${webhook?.id ?? ''} and source = 'itsm'`
    expect(fence?.done.map((edge) => Math.abs(Number(edge)))).toContain(position)
  })
})
