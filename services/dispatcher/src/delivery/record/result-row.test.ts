import { expect, it } from '@jest/globals'
import { createLogger, limitReached } from '@opsplane/runtime'
import type { Target } from '../../webhook/target.js'
import type { DeliveryJob } from '../job.js'
import { buildResult } from './result-row.js'

const job = {
  deliveryId: 'del_1',
  target: { url: 'https://a.example/' } as Target,
  content: { id: 'evt_1', type: 'incident.created', text: '{}' },
  attempts: 0,
} as DeliveryJob

it.each([
  [
    'over the budget of its workspace, until that is reset',
    limitReached('egressBytesPerMinute', 100, 41.2),
    42_000,
  ],
  ['without an answer of settings, for a moment', new Error('away'), 5_000],
])('an attempt is postponed %s', (_, reason, due) => {
  const log = createLogger({ service: 'test', level: 'silent' })
  const options = { log, jitter: 0, random: () => 0, stopping: new AbortController().signal }
  const { row } = buildResult(job, { kind: 'postponed', reason }, options)
  expect(row).toMatchObject({ status: 'postponed', due_in_ms: due })
})
