import { describe, expect, it } from '@jest/globals'
import type { ResolvedSecrets } from '@opsplane/contracts'
import type { z } from 'zod'
import { createSecretValues, type SecretUser } from './secret-values.js'

const target: SecretUser = {
  consumer: 'webhook/wh_1',
  tenant: { workspaceId: 'ws_1', environment: 'production' },
  userId: 'usr_1',
  host: 'a.example.com',
}

function start({ maxKept = 1_000 } = {}) {
  let nowMs = 0
  const asked: string[] = []
  const resolve = createSecretValues({
    source: {
      post: async <Schema extends z.ZodType>(_path: string, body: unknown, schema: Schema) => {
        const { names, consumer, host } = body as { names: string[]; consumer: string; host: string }
        asked.push(`${consumer} ${host} ${names}`)
        const answer: ResolvedSecrets = {
          values: Object.fromEntries(names.map((name) => [name, 'x'.repeat(300)])),
          refused: {},
        }
        return schema.parse(answer)
      },
    },
    keptMs: 10_000,
    now: () => nowMs,
    maxKept,
  })
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { resolve, asked, advance }
}

describe('secret values', () => {
  it('are requested once per ten seconds for each webhook and host', async () => {
    const { resolve, asked, advance } = start()
    await resolve(target, ['b', 'a', 'b'])
    await resolve(target, ['a', 'b'])
    await resolve({ ...target, consumer: 'webhook/wh_2' }, ['a', 'b'])
    await resolve({ ...target, host: 'b.example.com' }, ['a', 'b'])
    advance(10_000)
    await resolve(target, ['a', 'b'])
    expect(asked).toEqual([
      'webhook/wh_1 a.example.com a,b',
      'webhook/wh_2 a.example.com a,b',
      'webhook/wh_1 b.example.com a,b',
      'webhook/wh_1 a.example.com a,b',
    ])
  })

  it('are cached up to a bound, and the oldest are evicted first', async () => {
    const { resolve, asked } = start()
    for (const id of ['wh_1', 'wh_2', 'wh_3', 'wh_4'])
      await resolve({ ...target, consumer: `webhook/${id}` }, ['a'])
    await resolve({ ...target, consumer: 'webhook/wh_4' }, ['a'])
    expect(asked).toHaveLength(4)
    await resolve({ ...target, consumer: 'webhook/wh_1' }, ['a'])
    expect(asked).toHaveLength(5)
  })
})
