import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import type { DispatcherFixture } from '../../fixture/dispatcher-fixture.js'
import { type KillableDispatcher, startKillable } from '../../fixture/dispatcher-process.js'
import { numberedData, orderedEndpoint } from '../../fixture/ordered-endpoint.js'

let killable: KillableDispatcher
let fixture: DispatcherFixture
beforeAll(async () => {
  killable = await startKillable()
  fixture = killable.fixture
})
afterAll(() => killable?.stop())

const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
const perKey = 8

describe('two dispatchers, one of which is killed', () => {
  it('keep the order of every key, and repeat only the delivery in flight', async () => {
    await killable.startAnother()
    const endpoint = orderedEndpoint(({ n }) => ({ status: 200, delayMs: n }))
    const settings = { ordering_key: 'data.key', timeout_ms: 5_000 }
    await fixture.webhook('ordered', settings, endpoint.respond)
    const publish = async (n: number) => {
      await Promise.all(
        keys.map((key) => fixture.publish({ type: 'ordered.created', ...numberedData(n, key) })),
      )
    }
    const publishing = (async () => {
      for (let n = 1; n < perKey; n++) await publish(n)
    })()
    await waitFor(() => endpoint.arrived.length >= keys.length * 2)
    await killable.kill()
    await publishing
    await publish(perKey)

    await waitFor(
      async () => {
        const [row] = await fixture.service.sql<{ done: number }[]>`
          select count(*)::int as done from deliveries where status = 'succeeded'`
        return row?.done === keys.length * perKey
      },
      // Messages held by the killed process are redelivered after the consumer's ack wait.
      { message: 'every delivery' },
    )
    for (const key of keys) {
      const numbers = endpoint.of(key)
      const withoutRepetitions = numbers.filter((n, index) => n !== numbers[index - 1])
      expect(withoutRepetitions).toEqual(Array.from({ length: perKey }, (_, index) => index + 1))
    }
  })
})
