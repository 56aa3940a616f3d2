import { describe, it } from '@jest/globals'
import type { ReplayJob } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { replay } from './replay-log.js'

const started: ReplayJob = {
  id: 'rpl_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  webhookId: 'wh_1',
  status: 'running',
  filter: { status: ['failed'], eventType: null, from: null, to: '2026-01-01T00:00:00.000Z' },
  total: 3,
  replayed: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
}
const running = { ...started, webhookName: 'Hook' }
const end = { replayed: 2, finishedAt: '2026-01-01T00:00:01.000Z' }

describe('a replay of many deliveries', () => {
  it('is reported at its start with its filter and total', () => {
    specify(replay)
      .given(null)
      .when({ kind: 'start', job: started, webhookName: 'Hook' })
      .emits({
        type: 'webhook.replay_started',
        changes: running,
        extras: { replayId: started.id, filter: started.filter, total: 3 },
      })
  })

  it.each([
    ['cancel', 'canceled'],
    ['complete', 'completed'],
  ] as const)('is reported at its end by %s with its progress', (kind, status) => {
    const changes = { ...end, status }
    specify(replay)
      .given(running)
      .when({ kind, job: { ...started, ...changes } })
      .emits({ type: `webhook.replay_${status}`, changes, extras: { replayId: started.id, replayed: 2 } })
  })
})
