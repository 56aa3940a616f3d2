import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { shownEvents, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

it("a delivery contains the audit log's `after` as `data`, or the last resource once deleted, for every event type", async () => {
  const all = shownEvents(fixture.principal.workspaceId ?? '')
  await fixture.webhook('shown', { events: ['*'] })
  for (const { event } of all) await fixture.publish(event)
  const bodies = await waitFor(() => {
    const received = fixture.requestsTo('shown').map(({ rawBody }) => JSON.parse(rawBody.toString()))
    const ids = new Set(received.map(({ id }) => id))
    return all.every(({ event }) => ids.has(event.id)) && received
  })
  const dataOf = new Map(bodies.map(({ id, data }) => [id, data]))
  for (const { event, shown } of all) expect([event.type, dataOf.get(event.id)]).toEqual([event.type, shown])
})
