import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { JsonValue, newId, Run, RunDetail, RunStep } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { type Definition, type RunService, runService } from '../fixture/run-service.js'
import { readRunEnds } from './completion-waiter.js'
import { type EffectCall, effectFailure } from './perform/effect.js'
import { findRun } from './queries.js'
import type { Runs } from './runs.js'
import { runDetail, runSteps } from './trace.js'

let fixture: RunService
let service: TestService
let runs: Runs
let api: ApiClient
let works = false
/** A secret in a field whose name does not indicate one. */
const vaulted = 'vault-value-2718'

beforeAll(async () => {
  const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
  const http = async ({ conceal, input }: Pick<EffectCall, 'conceal' | 'input'>) => {
    if (!works) return refuses()
    conceal([vaulted, 'not among what it gives'])
    const { url } = input as { url: string }
    if (url.endsWith('fails')) throw effectFailure('refused', `No ${vaulted}.`)
    return { status: 200, text: `It is ${vaulted}.` }
  }
  fixture = runService({
    effects: { http, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
  })
  service = await startTestService(fixture.service)
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
  api = service.as(testPrincipal({ workspaceId: fixture.tenant.workspaceId }))
})
afterAll(() => service?.stop())

const items = Array.from({ length: 120 }, (_, n) => n)
/** Two steps for each item, the second of which fails for the last item until it works. */
const manySteps: Definition = {
  steps: [
    {
      ...{ id: 'each', type: 'for_each', items: '{{ input.items }}', concurrency: 7 },
      steps: [
        { id: 'seen', type: 'transform', value: { item: '{{ item }}', text: 'x'.repeat(300) } },
        {
          ...{ id: 'odd', type: 'branch', if: '{{ item = 119 }}' },
          then: [{ id: 'call', type: 'http', url: 'https://example.test' }],
        },
      ],
    },
    { id: 'after', type: 'transform', value: '{{ $count(steps.each.output) }}' },
  ],
}
const detail = async (runId: string) => (await api.get(`/runs/${runId}`)).data(RunDetail)
const pagesOf = async (runId: string, limit: number) => {
  const steps: RunStep[] = []
  for (let after = '0'; ; ) {
    const page = (await api.get(`/runs/${runId}/steps?limit=${limit}&after=${after}`)).page(RunStep)
    expect(page.items.length).toBeLessThanOrEqual(limit)
    steps.push(...page.items)
    const { nextCursor } = page.pagination
    if (nextCursor === null) return steps
    after = nextCursor
  }
}

/** A run of many steps that has failed once and was retried. */
let runId: string
beforeAll(async () => {
  runId = (await runs.start(fixture.define(manySteps)({ input: { items } }))).runId
  expect(await runs.waitForEnd(runId, 60_000)).toMatchObject({ status: 'failed' })
  works = true
  expect((await api.post(`/runs/${runId}/retry`, {})).status).toBe(200)
  await waitFor(async () => (await detail(runId)).status === 'completed')
})

test('pages of any size contain every step once, in the order in which the steps started', async () => {
  const all = await pagesOf(runId, 200)
  // Two steps for each item, the call and its retry, the loop twice, and the last step.
  expect(all).toHaveLength(2 * items.length + 1 + 2 + 2 + 1)
  for (const limit of [1, 7, 100]) {
    const steps = limit === 1 ? await firstOf(25) : await pagesOf(runId, limit)
    expect(steps).toEqual(all.slice(0, steps.length))
    expect(steps).toHaveLength(limit === 1 ? 25 : all.length)
  }
  const within = (step: RunStep) => all.findIndex(({ place }) => place === step.parent)
  for (const [n, step] of all.entries()) expect(within(step)).toBeLessThan(n)
  expect(all.filter(({ id }) => id === 'call').map(({ status, runAttempt }) => [status, runAttempt])).toEqual(
    [
      ['failed', 1],
      ['completed', 2],
    ],
  )
  expect(all.find(({ place }) => place === 'seen[118]')?.output.value).toMatchObject({ item: 118 })
  expect(all.find(({ place }) => place === 'each')?.itemCount).toBe(items.length)
})

/** Reads pages of one step. */
async function firstOf(count: number): Promise<RunStep[]> {
  const pages: RunStep[] = []
  for (let after = 0; after < count; after++)
    pages.push(...(await api.get(`/runs/${runId}/steps?limit=1&after=${after}`)).page(RunStep).items)
  return pages
}

test('a run is returned with its first page of steps, its output and a cursor for the rest', async () => {
  const shown = await detail(runId)
  const all = await pagesOf(runId, 200)
  expect(shown.steps).toEqual(all.slice(0, 200))
  expect(shown).toMatchObject({ nextSteps: '200', output: { value: items.length }, nextDueAt: null })
  const rest = (await api.get(`/runs/${runId}/steps?after=${shown.nextSteps}`)).page(RunStep)
  expect(rest.items).toEqual(all.slice(200))
  for (const wrong of ['x', '-1', '1.5', '99999999999'])
    expect((await api.get(`/runs/${runId}/steps?after=${wrong}`)).error().code).toBe('invalid_cursor')
  const other = service.as(testPrincipal())
  expect((await other.get(`/runs/${runId}/steps`)).error().code).toBe('not_found')
})

test('no response shows values of fields named as secrets, while steps compute with the unmasked values', async () => {
  const pin = 'pin-4711'
  const echoes: Definition = {
    steps: [
      {
        id: 'number',
        type: 'transform',
        value: { text: "{{ 'INC-' & input.credentials.pin }}", next_token: 'page-2' },
      },
      {
        id: 'next',
        type: 'transform',
        value:
          "{{ { 'length': $length(steps.number.output.text), 'page': steps.number.output.next_token } }}",
      },
      { id: 'large', type: 'transform', value: `{{ input.credentials.pin & '${'x'.repeat(9_000)}' }}` },
      { id: 'stop', type: 'fail', message: '{{ input.credentials.pin }}' },
    ],
  }
  const { runId: echo } = await runs.start(fixture.define(echoes)({ input: { credentials: { pin } } }))
  await waitFor(async () => (await detail(echo)).status === 'failed')
  const shown = await detail(echo)
  const [number, next, large] = shown.steps
  expect(shown.input.value).toEqual({ credentials: { pin: '***' } })
  expect(number?.output.value).toEqual({ text: 'INC-***', next_token: '***' })
  expect(next?.output.value).toEqual({ length: `INC-${pin}`.length, page: 'page-2' })
  const largeValue = (await api.get(large?.output.large?.href ?? '')).data(JsonValue)
  expect(largeValue).toBe(`***${'x'.repeat(9_000)}`)
  const everything = [shown, await pagesOf(echo, 200), largeValue]
  expect(JSON.stringify(everything)).not.toContain(pin)
})

test('lists and events mask secrets in errors and titles, while a waiting parent run receives the real error', async () => {
  const pin = 'pin-0815'
  const start = async (step: object) =>
    (await runs.start(fixture.define({ steps: [step] })({ input: { credentials: { pin } } }))).runId
  const message = '{{ input.credentials.pin }}'
  const fails = await start({ id: 'stop', type: 'fail', message })
  const asks = await start({ id: 'ask', type: 'approval', title: message, approvers: { users: ['usr_1'] } })
  expect((await runs.waitForEnd(fails, 60_000))?.error?.message).toBe(pin)
  expect((await readRunEnds(service.sql, [fails])).get(fails)?.error?.message).toBe(pin)
  await waitFor(async () => (await detail(asks)).status === 'paused')

  const listed = (await api.get('/runs?limit=100')).page(Run).items
  expect(listed.find(({ id }) => id === fails)?.error?.message).toBe('***')
  const events = await service.sql<{ type: string; data: string }[]>`
    select type, data::text as data from events where stream_id in (${fails}, ${asks})`
  const types = events.map(({ type }) => type)
  expect(types).toEqual(expect.arrayContaining(['workflow.run_failed', 'workflow.approval_requested']))
  expect(JSON.stringify([listed, events])).not.toContain(pin)
})

test('no response or event shows a secret that a step returned, while parent runs can use it', async () => {
  works = true
  const copies = (step: string) => ({
    ...{
      id: 'copy',
      type: 'transform' as const,
      value: `{{ $string(steps.${step}) & '${'x'.repeat(9_000)}' }}`,
    },
  })
  const asks = (title: string) => ({
    ...{ id: 'ask', type: 'approval' as const, title, approvers: { users: ['usr_1'] } },
  })
  const call = { id: 'call', type: 'http' as const, url: 'https://example.test/' }
  const child = newId('workflow')
  fixture.define(
    { steps: [call, { id: 'text', type: 'transform', value: '{{ steps.call.output.text }}' }] },
    child,
  )
  const definitions: Definition[] = [
    { steps: [call, copies('call.output'), asks('{{ steps.call.output.text }}')] },
    {
      steps: [
        { id: 'sub', type: 'workflow', workflow: child },
        copies('sub.output'),
        asks('{{ steps.sub.output }}'),
      ],
    },
    { steps: [{ ...call, url: 'https://example.test/fails' }] },
  ]
  const [paused, parent, fails] = await Promise.all(
    definitions.map(async (each) => (await runs.start(fixture.define(each)())).runId),
  )
  expect((await runs.waitForEnd(fails ?? '', 60_000))?.error?.message).toBe(`No ${vaulted}.`)
  for (const id of [paused, parent]) await waitFor(async () => (await detail(id ?? '')).status === 'paused')

  for (const id of [paused ?? '', parent ?? '', fails ?? '']) {
    const shown = await detail(id)
    const links = shown.steps.flatMap(({ output: { large } }) => (large ? [large.href] : []))
    expect(links).toHaveLength(id === fails ? 0 : 1)
    const texts = await Promise.all(links.map(async (link) => (await api.get(link)).text))
    const events = await service.sql`select data::text from events where stream_id = ${id}`
    const all = JSON.stringify([shown, await pagesOf(id, 1), texts, events, (await api.get('/runs')).text])
    expect(all).not.toContain(vaulted)
    expect(all).toContain('***')
  }
  const [kept] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from run_entries where entry::text like '%not among what it gives%'`
  expect(kept?.count).toBe(0)
})

test('no request reads more than 200 journal entries at once', async () => {
  const { identity, shown } = await findRun(service.sql, runId, fixture.tenant)
  const program = await runs.programOf(identity)
  const [journal] = await service.sql<{ lines: number }[]>`
    select count(*)::int as lines from run_entries where run_id = ${runId}`
  expect(journal?.lines).toBeGreaterThan(200)
  const read: number[] = []
  const unsafe = async (text: string, parameters: string[]) => {
    const rows = await service.sql.unsafe(text, parameters)
    read.push(rows.length)
    return rows
  }
  const counting = { unsafe } as unknown as Database['sql']
  await runSteps(counting, { identity, program, page: { after: 0, limit: 1 } })
  await runDetail(counting, shown, { identity, program, page: { after: 0, limit: 200 } })
  expect(Math.max(...read)).toBeLessThanOrEqual(200)
})
