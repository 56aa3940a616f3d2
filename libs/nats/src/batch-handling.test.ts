import { expect, test } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { batchHandling, type Received } from './batch-handling.js'
import type { StreamMessage } from './stream-message.js'

class Away extends Error {}

test('redelivers events that fail while a dependency is unavailable, however many of their workspace fail', async () => {
  const back: number[] = []
  const dead: number[] = []
  const received = (seq: number): Received<number> => {
    const message = { seq, deliveries: 1, ack() {}, term() {}, nak: () => void back.push(seq) }
    return { message: message as unknown as StreamMessage, event: seq, queueKey: String(seq), tenant: 'ws_1' }
  }
  const handling = batchHandling<number>({
    durable: 'test',
    log: createLogger({ service: 'test', level: 'silent' }),
    async apply(batch) {
      if (batch[0]?.event === 0) return
      // Other batches succeed meanwhile, as happens when Postgres has too few connections for all.
      if (batch.length === 4) await handling.handle([received(0)], () => {})
      throw new Away()
    },
    isAway: (error) => error instanceof Away,
    onDead: async ({ seq }) => void dead.push(seq),
    maxAckPending: 4,
    closing: new AbortController().signal,
    onSettled: () => {},
  })
  await handling.handle([1, 2, 3, 4].map(received), () => {})
  expect({ back, dead }).toEqual({ back: [1, 2, 3, 4], dead: [] })
})
