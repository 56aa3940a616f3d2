import { expect, test } from '@jest/globals'
import { natsNames } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { backfillFromLogs } from './backfill.js'
import type { ConsumerTables } from './consumer-tables.js'

test('a recreated consumer does not backfill events it had handled, however fast the stream drops them', async () => {
  const place = { streamCreated: 'then', ackFloor: 900, startedMs: 0 }
  const tables = { place: async () => place } as unknown as ConsumerTables
  let looks = 0
  const filled = await backfillFromLogs(
    {
      ...{ names: natsNames(), durable: 'test', history: { of: 'all', logs: [] }, tables },
      closing: new AbortController().signal,
      log: createLogger({ service: 'test', level: 'silent' }),
      apply: async () => {},
    },
    async () => {
      if (++looks > 5) throw new Error('it looks again and again')
      const [acknowledged, first] = [{ ackFloor: 0, delivered: 0, ackPending: 0 }, 100 * looks]
      const stream = { streamCreated: 'then', firstSequence: first, lastSequence: 1_000, firstStoredMs: 1 }
      return { ...acknowledged, pending: 1_000 - first, ...stream }
    },
  )
  expect(filled).toMatchObject({ firstSequence: 100 })
})
