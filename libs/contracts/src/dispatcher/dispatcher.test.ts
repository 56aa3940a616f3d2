import { describe, expect, it } from '@jest/globals'
import { referencedSecrets } from '../core/secret-reference.js'
import { CreateWebhook, UpdateWebhook } from './dispatcher.js'

const minimal = { name: 'Hook', url: 'https://example.com', events: ['incident.created'] }
const problems = (input: Record<string, unknown>) =>
  CreateWebhook.safeParse({ ...minimal, ...input }).error?.issues.map(({ path }) => path.join('.')) ?? []

describe('webhook input', () => {
  it('accepts camelCase and snake_case, and converts both to snake_case', () => {
    const parsed = CreateWebhook.parse({
      ...minimal,
      retryStrategy: 'fixed',
      timeoutMs: 500,
      retryMaxDelayMs: 9000,
    })
    expect(parsed).toEqual({ ...minimal, retry_strategy: 'fixed', timeout_ms: 500, retry_max_delay_ms: 9000 })
    expect(UpdateWebhook.parse({ timeoutMs: 500, timeout_ms: 500 })).toEqual({ timeout_ms: 500 })
    expect(UpdateWebhook.parse({})).toEqual({})
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['two spellings that differ', { timeoutMs: 500, timeout_ms: 600 }, 'timeoutMs'],
    ['too many retries', { retries: 21 }, 'retries'],
    ['negative retries', { retries: -1 }, 'retries'],
    ['a timeout under 100 ms', { timeout_ms: 99 }, 'timeout_ms'],
    ['a timeout over a minute', { timeoutMs: 60_001 }, 'timeoutMs'],
    ['no events', { events: [] }, 'events'],
    ['a half pattern', { events: ['incident.*', 'inc*'] }, 'events.1'],
    ['a bare word', { events: ['incident'] }, 'events.0'],
    ['an empty segment', { events: ['incident..created'] }, 'events.0'],
    ['an unknown field', { colour: 'red' }, ''],
    ['an unknown filter operator', { filter: { 'data.a': { near: 1 } } }, 'filter.data.a'],
    ['a Host header', { headers: { Host: 'x' } }, 'headers.Host'],
    ['a hop-by-hop header', { headers: { 'Transfer-Encoding': 'chunked' } }, 'headers.Transfer-Encoding'],
    [
      'a signature of its own',
      { headers: { 'X-Service-Signature-256': 'x' } },
      'headers.X-Service-Signature-256',
    ],
    ['a webhook-id of its own', { headers: { 'Webhook-Id': 'x' } }, 'headers.Webhook-Id'],
    ['a header with a line break', { headers: { 'X-A': 'a\r\nb' } }, 'headers.X-A'],
    ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers'],
    ['a malformed reference', { headers: { 'X-A': '{{secret.a}}' } }, 'headers.X-A'],
    ['an open reference', { headers: { 'X-A': '{{secrets.a' } }, 'headers.X-A'],
  ])('rejects %s', (_name, input, path) => {
    expect(problems(input)).toContain(path)
  })

  it.each(['*', 'incident.*', 'audit.*', 'sdk.execution.failed', 'sdk.execution.*', 'record.created'])(
    'accepts the pattern %s',
    (pattern) => {
      expect(problems({ events: [pattern] })).toEqual([])
    },
  )

  it('finds the secrets that a header references', () => {
    expect(referencedSecrets('Basic {{secrets.user}}:{{ secrets.pass-word }}')).toEqual(['user', 'pass-word'])
    expect(problems({ headers: { Authorization: 'Bearer {{secrets.api_token}}' } })).toEqual([])
  })
})
