import { describe, expect, it } from '@jest/globals'
import { type EffectStep, type PublishStep, WorkflowDefinition } from '@opsplane/contracts'
import { CallFailure, type CallPlatform, type Operations, type PlatformCaller } from '@opsplane/http'
import type { Origin, RunIdentity } from '../model.js'
import { apiEffect } from './api.js'
import { connectorEffect } from './connector.js'
import { type EffectCall, effectFailure, toFailure } from './effect.js'
import { publishEffect } from './publish.js'

type PlatformRequest = Parameters<CallPlatform>[1]

/** A platform that returns the given answer and records the requests. */
function fakePlatform(answer: { status: number; body: unknown } | Error) {
  const asked: { caller: PlatformCaller; request: PlatformRequest }[] = []
  const call: CallPlatform = async (caller, request) => {
    asked.push({ caller, request })
    if (answer instanceof Error) throw answer
    return answer
  }
  return { asked, call }
}

const stepOf = (step: object) => WorkflowDefinition.parse({ steps: [{ id: 'it', ...step }] }).steps[0]

/** A call of a step as made by the engine, with only those fields of the run that effects read. */
function callOf<Step extends EffectStep>(step: object, input: unknown): EffectCall<Step> {
  const run = { id: 'run_1', workflowId: 'wf_1', workflowName: 'Sync' } as RunIdentity
  return {
    ...{ run, origin: {} as Origin, step: stepOf(step) as Step, input, key: 'k'.repeat(64) },
    ...{
      timeoutMs: 5_000,
      grant: 'grant',
      userId: 'usr_1',
      signal: new AbortController().signal,
      conceal: () => {},
    },
  }
}

const caller = {
  ...{ grant: 'grant', key: 'k'.repeat(64), timeoutMs: 5_000, causationId: 'run_1' },
  workflow: { id: 'wf_1', name: 'Sync' },
}

describe('an api step', () => {
  const operations = {
    find: async (id: string) =>
      id === 'addComment'
        ? { service: 'itsm', method: 'post', path: '/itsm/incidents/:id/comments' }
        : undefined,
  } as Operations
  const effect = (platform: ReturnType<typeof fakePlatform>) => apiEffect(operations, platform.call)
  const step = { type: 'api', operation: 'addComment' }

  it('calls the operation with its parameters, the grant of the publisher and the key of the step', async () => {
    const platform = fakePlatform({ status: 201, body: { data: { id: 'c_1' } } })
    const input = { params: { id: 'inc/1' }, query: { notify: true, tag: ['a', 'b'] }, body: { text: 'Hi' } }
    expect(await effect(platform)(callOf(step, input))).toEqual({ status: 201, data: { id: 'c_1' } })
    const [asked] = platform.asked
    expect(asked?.caller).toMatchObject(caller)
    expect(asked?.request).toEqual({
      ...{ service: 'itsm', method: 'POST', body: { text: 'Hi' } },
      path: '/itsm/incidents/inc%2F1/comments?notify=true&tag=a&tag=b',
    })
  })

  it('returns a list page with its pagination, and accepts a response without an envelope', async () => {
    const page = { data: [1], pagination: { nextCursor: 'c' } }
    const input = { params: { id: 'i' } }
    const listed = fakePlatform({ status: 200, body: page })
    expect(await effect(listed)(callOf(step, input))).toEqual({ status: 200, ...page })
    const bare = fakePlatform({ status: 204, body: undefined })
    expect(await effect(bare)(callOf(step, input))).toEqual({ status: 204, data: null })
  })

  it('fails on a missing parameter or an unknown operation, before any call', async () => {
    const platform = fakePlatform({ status: 200, body: {} })
    const refused = effect(platform)(callOf(step, {})).catch(toFailure)
    expect(await refused).toMatchObject({ ok: false, error: { code: 'missing_param', retryable: false } })
    const unknown = effect(platform)(callOf({ ...step, operation: 'gone' }, {})).catch(toFailure)
    expect(await unknown).toMatchObject({ ok: false, error: { code: 'unknown_operation', retryable: true } })
    expect(platform.asked).toEqual([])
  })
})

describe('a connector step', () => {
  const id = 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
  const step = { type: 'connector', connector: id, action: 'post' }

  it('invokes its action and returns the output', async () => {
    const platform = fakePlatform({ status: 200, body: { data: { output: { ok: true }, attempts: 1 } } })
    const output = await connectorEffect(platform.call)(callOf(step, { text: 'Hi' }))
    expect(output).toEqual({ ok: true })
    expect(platform.asked[0]?.caller).toMatchObject(caller)
    expect(platform.asked[0]?.request).toEqual({
      ...{ service: 'integrations', method: 'POST', path: `/connectors/${id}/invoke` },
      body: { action: 'post', input: { text: 'Hi' } },
    })
  })

  it('fails with the error of the action, and whether it can be retried', async () => {
    const failure = new CallFailure('connector_unreachable', 'It did not answer.', { retryable: true })
    const outcome = connectorEffect(fakePlatform(failure).call)(callOf(step, {})).catch(toFailure)
    expect(await outcome).toEqual({
      ok: false,
      error: { code: 'connector_unreachable', message: 'It did not answer.', retryable: true },
    })
  })
})

describe('a publish step', () => {
  const step = { type: 'publish', topic: 'orders', eventType: 'paid', payload: {} }
  const id = 'evt_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
  const createdAt = '2026-01-01T00:00:00.000Z'
  const data = { id, topic: 'orders', type: 'paid', deduplicated: false, createdAt }
  const answer = { status: 201, body: { data } }

  it('publishes one event across all attempts, deduplicated by the key of the step', async () => {
    const platform = fakePlatform(answer)
    const input = { eventType: 'paid', payload: { amount: 5 } }
    const call = callOf<PublishStep>(step, input)
    expect(await publishEffect(platform.call)(call)).toEqual({ id, deduplicated: false })
    await publishEffect(platform.call)(call)
    const [first, second] = platform.asked.map(({ request }) => request)
    expect(first).toEqual({
      ...{ service: 'dispatcher', method: 'POST', path: '/events/topics/orders/publish' },
      body: { type: 'paid', payload: { amount: 5 }, deduplicationKey: call.key },
    })
    expect(second).toEqual(first)
  })

  it('uses its own deduplication key if it has one', async () => {
    const platform = fakePlatform(answer)
    const input = { eventType: 7, payload: null, deduplicationKey: 'order-7' }
    await publishEffect(platform.call)(callOf(step, input))
    expect(platform.asked[0]?.request.body).toEqual({
      ...{ type: '7', payload: null, deduplicationKey: 'order-7' },
    })
  })
})

describe('an error thrown by an effect', () => {
  it('is reported without its message, as a retryable internal error, if it is unknown', () => {
    expect(toFailure(new Error('password=hunter2'))).toEqual({
      ok: false,
      error: { code: 'internal_error', message: 'The step could not be executed.', retryable: true },
    })
    expect(toFailure(effectFailure('refused', 'No.'))).toEqual({
      ok: false,
      error: { code: 'refused', message: 'No.', retryable: false },
    })
  })
})
