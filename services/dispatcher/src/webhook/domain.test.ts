import { describe, expect, it } from '@jest/globals'
import { CreateWebhook, permissions } from '@opsplane/contracts'
import { type UpdateWebhookCommand, type WebhookState, webhook } from './domain.js'

const now = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const noHeaders = { shown: {}, sealed: {} }
const caller = { userId: 'usr_1', permissions }

function given(input: Record<string, unknown> = {}, headers = noHeaders): WebhookState {
  const {
    secret,
    headers: _headers,
    ...settings
  } = CreateWebhook.parse({
    name: 'Hook',
    url: 'https://example.com/hook',
    events: ['incident.*'],
    ...input,
  })
  const [decision] = webhook.decide(
    {
      kind: 'create',
      id: 'wh_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      now,
      environment: 'production',
      caller,
      settings,
      headers,
      sealedSecret: secret ? `sealed:${secret}` : null,
    },
    null,
  )
  if (!decision?.after) throw new Error('nothing was created')
  return decision.after
}

const update = (state: WebhookState, changes: Partial<UpdateWebhookCommand>) =>
  webhook.decide({ kind: 'update', now: later, caller, settings: {}, ...changes }, state)
const autoPause = (state: WebhookState | null, epoch = 0) =>
  webhook.decide(
    { kind: 'auto_pause', now: later, reason: 'consecutive_failures', consecutiveFailures: 5, epoch },
    state,
  )

describe('a webhook', () => {
  it('starts with the documented defaults', () => {
    expect(webhook.expose(given())).toMatchObject({
      has_secret: false,
      headers: {},
      filter: null,
      retries: 3,
      retry_strategy: 'exponential',
      timeout_ms: 10_000,
      retry_max_delay_ms: 3_600_000,
      status: 'active',
      paused_reason: null,
    })
  })

  it('does not show its secret or sealed headers', () => {
    const state = given(
      { secret: 'hush' },
      { shown: { Authorization: '***' }, sealed: { Authorization: 'zzz' } },
    )
    expect(webhook.expose(state)).toMatchObject({ has_secret: true, headers: { Authorization: '***' } })
    expect(JSON.stringify(webhook.expose(state))).not.toMatch(/hush|zzz/)
  })

  it('keeps settings that an update does not contain', () => {
    const [decision, ...others] = update(given({ secret: 'hush' }), { settings: { name: 'New' } })
    expect(others).toEqual([])
    expect(decision).toMatchObject({
      type: 'webhook.updated',
      after: {
        name: 'New',
        url: 'https://example.com/hook',
        secrets: [{ sealed: 'sealed:hush' }],
        updatedAt: later,
      },
    })
  })

  it('emits no event if an update changes nothing', () => {
    expect(update(given(), { settings: { name: 'Hook', status: 'active' } })).toEqual([])
  })

  it('removes secret, filter and schedule on null', () => {
    const state = given({ secret: 'hush', filter: { 'data.a': 1 }, retry_schedule: [1] })
    const [decision] = update(state, { settings: { filter: null, retry_schedule: null }, sealedSecret: null })
    expect(decision?.after).toMatchObject({ secrets: [], filter: null, retrySchedule: null })
  })

  it('keeps a redacted header that is sent back, and rejects a redacted header without a stored value', () => {
    const state = given({}, { shown: { Authorization: '***' }, sealed: { Authorization: 'zzz' } })
    const [decision] = update(state, { headers: { shown: { Authorization: '***', 'X-A': '1' }, sealed: {} } })
    expect(decision?.after).toMatchObject({
      headers: { 'X-A': '1' },
      sealedHeaders: { Authorization: 'zzz' },
    })
    expect(() => update(state, { headers: { shown: { 'X-Key': '***' }, sealed: {} } })).toThrow(
      expect.objectContaining({ code: 'validation_failed' }),
    )
  })

  it('does not transfer hidden values to another host', () => {
    const state = given({}, { shown: { Authorization: '***' }, sealed: { Authorization: 'zzz' } })
    const to = (url: string, changes: Partial<UpdateWebhookCommand> = {}) =>
      update(state, { settings: { url }, ...changes })[0]?.after
    for (const url of ['https://example.net/hook', 'https://example.com:8443/hook'])
      for (const shown of [undefined, { Authorization: '***' }])
        expect(() => to(url, shown && { headers: { shown, sealed: {} } })).toThrow(
          expect.objectContaining({
            details: [
              expect.objectContaining({ path: '/headers/Authorization', code: 'not_for_another_host' }),
            ],
          }),
        )
    expect(to('https://example.com/other')?.sealedHeaders).toEqual({ Authorization: 'zzz' })
    expect(to('https://example.net/hook', { headers: { shown: {}, sealed: {} } })?.sealedHeaders).toEqual({})
    const again = { shown: { Authorization: '***' }, sealed: { Authorization: 'yyy' } }
    expect(to('https://example.net/hook', { headers: again })?.sealedHeaders).toEqual(again.sealed)
  })

  it('is paused and resumed by a person', () => {
    const [paused] = update(given(), { settings: { status: 'paused' } })
    expect(paused).toMatchObject({ type: 'webhook.paused', extras: { reason: 'user' } })
    if (!paused?.after) throw new Error('not paused')
    const decisions = update(paused.after, { settings: { status: 'active', name: 'Better' } })
    expect(decisions.map(({ type }) => type)).toEqual(['webhook.updated', 'webhook.resumed'])
    expect(decisions.at(-1)?.after).toMatchObject({
      status: 'active',
      pausedReason: null,
      epoch: 1,
      name: 'Better',
    })
  })

  it('pauses automatically once, and not for failures from before a resume', () => {
    const [paused] = autoPause(given())
    expect(paused).toMatchObject({
      type: 'webhook.paused',
      after: { status: 'paused', pausedReason: 'consecutive_failures' },
      extras: { reason: 'consecutive_failures', consecutiveFailures: 5 },
    })
    if (!paused?.after) throw new Error('not paused')
    expect(autoPause(paused.after)).toEqual([])
    expect(autoPause({ ...given(), epoch: 1 })).toEqual([])
    expect(autoPause(null)).toEqual([])
  })

  it('rotates its secret, which is never shown', () => {
    const rotate = {
      kind: 'rotate_secret',
      now: later,
      sealedSecret: 'sealed:new',
      overlapUntil: later,
    } as const
    const [decision, ...others] = webhook.decide(rotate, given({ secret: 'hush' }))
    expect(others).toEqual([])
    expect(decision).toMatchObject({
      type: 'webhook.secret_rotated',
      after: {
        secrets: [{ sealed: 'sealed:new' }, { sealed: 'sealed:hush', expiresAt: later }],
        updatedAt: later,
      },
      extras: { overlapUntil: later },
    })
    expect(() => webhook.decide(rotate, null)).toThrow('no such resource')
  })

  it('is deleted once', () => {
    expect(webhook.decide({ kind: 'delete' }, given())).toEqual([{ type: 'webhook.deleted', after: null }])
    expect(() => webhook.decide({ kind: 'delete' }, null)).toThrow('no such resource')
  })
})
