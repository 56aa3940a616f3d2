import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Run, type TriggeredRun, WorkflowHook, WorkflowWithDraft } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { type DefinitionInput, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let api: ApiClient
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(testPrincipal())
})
afterAll(() => fixture?.stop())

type Steps = DefinitionInput['steps']
type Trigger = Omit<Extract<DefinitionInput['trigger'], { type: 'webhook' }>, 'type'>

const create = (definition: DefinitionInput) => api.post('/workflows', { name: 'Hooked', definition })
const hooked = async (steps: Steps, trigger: Trigger = {}) => {
  const { id } = (await create({ trigger: { type: 'webhook', ...trigger }, steps })).data(WorkflowWithDraft)
  expect((await api.post(`/workflows/${id}/publish`, { activate: true })).status).toBe(200)
  return `/origin${(await api.get(`/workflows/${id}/hook`)).data(WorkflowHook).path}`
}
/** Sends a request as any sender does, with any body. */
const send = async (path: string, init: RequestInit = {}) => {
  const headers = { ...(await fixture.service.headers()), ...(init.headers as Record<string, string>) }
  const response = await fetch(`${fixture.service.url}${path}`, { ...init, headers })
  const { data, error } = (await response.json()) as { data?: TriggeredRun; error?: { code: string } }
  return { status: response.status, data, error }
}

const echo: Steps = [{ id: 'echo', type: 'transform', value: '{{ event }}' }]
const seen = async (path: string, init: RequestInit) => {
  const answer = await send(path, init)
  expect(answer).toMatchObject({ status: 200, data: { ended: true, status: 'completed' } })
  return answer.data?.output
}

describe('the event of an inbound webhook', () => {
  it.each(['GET', 'POST', 'PUT'])(
    'has the query of a %s request, without the wait parameter',
    async (method) => {
      const path = await hooked(echo)
      expect(await seen(`${path}?wait=20&a=1&tag=x&tag=y%20z&__proto__=1`, { method })).toMatchObject({
        ...{ method, body: null },
        query: { a: '1', tag: ['x', 'y z'] },
      })
      expect((await send(`${path}?wait=soon`, { method })).error?.code).toBe('validation_failed')
    },
  )

  it('has the headers named by the trigger, and no credentials', async () => {
    const path = await hooked(echo, { headers: ['x-signature', 'x-absent'] })
    const headers = { 'x-signature': 't=1,v1=ab', 'x-other': 'no', cookie: 'a=b', 'user-agent': 'sender' }
    const event = await seen(`${path}?wait=20`, { headers })
    expect(event).toMatchObject({ headers: { 'x-signature': 't=1,v1=ab', 'user-agent': 'sender' } })
    for (const name of ['x-other', 'cookie', 'authorization', 'x-absent'])
      expect(event).not.toHaveProperty(['headers', name])
  })

  it.each(['authorization', 'cookie', 'x-forwarded-for', 'X-Upper', 'no header', ''])(
    'cannot include the header %j',
    async (name) => {
      const definition: DefinitionInput = { trigger: { type: 'webhook', headers: [name] }, steps: echo }
      expect((await create(definition)).error()).toMatchObject({ code: 'validation_failed' })
    },
  )

  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  it.each<[string, Trigger, Record<string, string>, string | Buffer, object]>([
    ['JSON', {}, json, '{"a":[1]}', { body: { a: [1] } }],
    ['raw JSON', { body: 'raw' }, json, '{ "a":[1] }', { body: '{ "a":[1] }' }],
    ['a form', {}, form, 'a=1&b=x+y', { body: { a: '1', b: 'x y' } }],
    ['a form of odd fields', {}, form, 'a=%00', { body: 'a=%00' }],
    ['raw bytes', { body: 'raw' }, json, Buffer.from([0xff, 0]), { body: '/wA=', encoding: 'base64' }],
    ['text with NUL', {}, {}, Buffer.from('a\0b'), { body: 'YQBi', encoding: 'base64' }],
  ])('has a body of %s', async (_what, trigger, headers, body, expected) => {
    const path = await hooked(echo, trigger)
    const event = await seen(`${path}?wait=20`, { method: 'POST', headers, body })
    expect(event).toMatchObject(expected)
    if (!('encoding' in expected)) expect(event).not.toHaveProperty('encoding')
  })

  it('can have a body of up to 5 MiB, which is not copied into platform events', async () => {
    const steps: Steps = [{ id: 'size', type: 'transform', value: '{{ $length(event.body) }}' }]
    const path = await hooked(steps, { body: 'raw' })
    const call = (body: string) => send(`${path}?wait=20`, { method: 'PUT', body })
    const most = 5 * 1024 * 1024
    const { data, ...answer } = await call('z'.repeat(most))
    expect({ ...answer, data }).toMatchObject({ data: { status: 'completed', output: most } })
    const [logged] = await fixture.service.sql`
      select max(length(data::text))::int as length from events where stream_id = ${data?.runId ?? ''}`
    expect(logged?.length).toBeLessThan(10_000)
    expect(await call('z'.repeat(most + 1))).toMatchObject({
      status: 413,
      error: { code: 'payload_too_large' },
    })
  })
})

describe('a call that waits for its run', () => {
  it('fails if the run fails', async () => {
    const path = await hooked([{ id: 'no', type: 'fail', message: 'Out of stock.' }])
    expect(await send(`${path}?wait=20`)).toMatchObject({
      status: 502,
      error: { code: 'upstream_error', message: expect.stringContaining('Out of stock.') },
    })
    expect(await send(path)).toMatchObject({ status: 202, data: { ended: false, status: null } })
  })

  it('returns immediately if the run pauses, or is paused already', async () => {
    const path = await hooked([{ id: 'ok', type: 'approval', title: 'Go?', approvers: { roles: ['admin'] } }])
    const call = () => send(`${path}?wait=20`, { method: 'POST', headers: { 'webhook-id': 'once' } })
    const paused = { ended: false, status: 'paused', output: null, error: null }
    const { status, data } = await call()
    expect([status, data]).toEqual([202, { ...paused, runId: data?.runId, created: true }])
    await waitFor(
      async () =>
        (await api.get(`/runs/${data?.runId}`)).data(Run.pick({ status: true })).status === 'paused',
    )
    expect(await call()).toMatchObject({ status: 202, data: { ...paused, created: false } })
  })
})
