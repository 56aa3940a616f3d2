import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { JetStreamManager } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink } from '@opsplane/nats'
import { testNatsUrl, uniquePrefix } from '@opsplane/testing'
import { openManager } from '../fixture/stream-messages.js'
import { log } from '../fixture/test-database.js'
import type { Refill } from './refill-outbox.js'
import { createRefillPace } from './refill-pace.js'
import { trackLease } from './relay-lease.js'
import type { StreamMark } from './stream-marks.js'
import { verifyStream } from './verify-stream.js'

let link: NatsLink
let manager: JetStreamManager
let names: ReturnType<typeof natsNames>
/** The mark of an empty stream; the outbox is known to be empty up to position 10. */
let stored: StreamMark

beforeAll(async () => {
  link = connectNats({ url: testNatsUrl(), name: 'sound-stream', log })
  manager = await openManager(link)
})
beforeEach(async () => {
  names = natsNames(uniquePrefix())
  await ensureStreams(link, names)
  const { created } = await manager.streams.info(names.eventsStream)
  const place = { identity: String(created), generation: 0, sequence: 0, messageId: null }
  stored = { ...place, number: 1, floor: 10, at: performance.now() }
})
afterAll(() => link.close())

const look = (witnessed: StreamMark[], refills: Refill[] = []) =>
  verifyStream({
    store: {
      marks: async () => [stored],
      record: async () => true,
      refill: async (_, refill) => {
        refills.push(refill)
        return { floor: refill.standing?.floor ?? 0, events: 0 }
      },
    },
    lease: trackLease({ owner: 'one', fence: '1' }, performance.now()),
    ...{ manager, names, log },
    ensureStreams: async () => {},
    pace: createRefillPace(),
    witness: { marks: witnessed, since: performance.now() },
  })

test('starts no higher than the recorded floor, whatever this process has published since', async () => {
  const sound = await look([stored, { ...stored, number: 2, floor: 20 }])
  expect(sound).toMatchObject({ start: 10, progress: { marks: [{ floor: 10 }, { floor: 10 }] } })
})

test('starts no higher than the recorded floor when the stream has lost events', async () => {
  const refills: Refill[] = []
  const unrecorded = { ...stored, number: 2, floor: 20 }
  const lost = { ...stored, number: 3, sequence: 5, floor: 30 }
  const sound = await look([stored, unrecorded, lost], refills)
  expect(refills).toMatchObject([{ standing: { number: 2, floor: 10 } }])
  expect(sound).toMatchObject({ start: 10 })
})
