import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ArtifactUses,
  CauseDepths,
  newId,
  TriggeredRun,
  Workflow,
  WorkflowDiff,
  WorkflowHook,
  WorkflowVersion,
  WorkflowVersionWithDefinition,
  WorkflowWithDraft,
} from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { z } from 'zod'
import {
  type DefinitionInput,
  hello,
  startWorkflows,
  type WorkflowsFixture,
} from '../fixture/workflows-fixture.js'
import { createGrantRevocations } from './grants.js'

let fixture: WorkflowsFixture
let api: ApiClient
const principal = testPrincipal()
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(principal)
})
afterAll(() => fixture?.stop())

const greeting = (value: string): DefinitionInput => ({ steps: [{ id: 'greet', type: 'transform', value }] })
const create = async (definition: DefinitionInput = hello, name = 'Greet') =>
  (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft)
const act = async (id: string, action: string, body: object = {}) =>
  (await api.post(`/workflows/${id}/${action}`, body)).data(Workflow)
const patch = (id: string, body: object) => api.send('PATCH', `/workflows/${id}`, { body })

describe('the internal routes for the sdk service', () => {
  const ask = (path: string, body: object) => fixture.service.asService('sdk').post(path, body)

  it('return the published workflows that use an artifact, at any nesting depth', async () => {
    const run = { id: 'run', type: 'artifact' as const, artifact: 'sync-assets' }
    const nested: DefinitionInput = {
      steps: [{ id: 'each', type: 'for_each', items: '{{ [1] }}', steps: [run] }],
      onFailure: [{ ...run, id: 'mend', artifact: 'mend-assets' }],
    }
    const used = await create(nested, 'Syncs')
    await create(nested, 'Draft only')
    await act(used.id, 'publish')
    const { workspaceId, environment = 'production' } = principal
    const uses = async (...slugs: string[]) =>
      (await ask('/internal/artifacts/uses', { workspaceId, environment, slugs })).data(ArtifactUses).uses
    const use = { kind: 'workflow', id: used.id, name: 'Syncs' }
    expect(await uses('sync-assets', 'mend-assets', 'for_each')).toEqual([
      { ...use, artifact: 'mend-assets' },
      { ...use, artifact: 'sync-assets' },
    ])
    await api.send('DELETE', `/workflows/${used.id}`)
    expect(await uses('sync-assets')).toEqual([])
  })

  it('return the causation depth of runs, and reject other services', async () => {
    const { id } = await create()
    await act(id, 'publish')
    const { runId } = (await api.post(`/workflows/${id}/trigger?wait=20`, { input: { name: 'Ada' } })).data(
      TriggeredRun,
    )
    const path = '/internal/runs/depths'
    const { depths } = (await ask(path, { ids: [runId, newId('run')] })).data(CauseDepths)
    expect(depths).toEqual([{ id: runId, depth: 0 }])
    expect((await fixture.service.asService('apps').post(path, { ids: [] })).status).toBe(403)
  })
})

describe('a draft', () => {
  it('can be created, read, listed, changed and archived', async () => {
    const made = await create()
    expect(made).toMatchObject({
      ...{ name: 'Greet', description: '', status: 'inactive', publishedVersion: null, latestVersion: 0 },
      ...{ draftRevision: 1, draftChanged: true, version: 1, problems: [] },
      allowedActions: ['update', 'publish', 'deactivate', 'archive'],
    })
    expect(made.draft.steps).toEqual([
      { id: 'greet', type: 'transform', value: 'Hello {{ input.name }}', continueOnError: false },
    ])
    expect((await api.get(`/workflows/${made.id}`)).data(WorkflowWithDraft)).toEqual(made)

    const renamed = (await patch(made.id, { name: 'Greet all' })).data(WorkflowWithDraft)
    expect(renamed).toMatchObject({ name: 'Greet all', draftRevision: 1, version: 2 })
    const redrawn = (await patch(made.id, { definition: greeting('Hi') })).data(WorkflowWithDraft)
    expect(redrawn).toMatchObject({ draftRevision: 2, version: 3 })
    // An update without changes creates no new version.
    expect((await patch(made.id, { definition: greeting('Hi') })).data(WorkflowWithDraft)).toEqual(redrawn)
    expect((await api.get(`/workflows/${made.id}`)).data(WorkflowWithDraft)).toEqual(redrawn)

    const { draft: _, problems: __, ...listed } = redrawn
    expect((await api.get('/workflows')).page(Workflow).items).toContainEqual(listed)
    expect((await api.send('DELETE', `/workflows/${made.id}`)).status).toBe(204)
    const ids = async (query: string) =>
      (await api.get(`/workflows${query}`)).page(Workflow).items.map(({ id }) => id)
    expect(await ids('')).not.toContain(made.id)
    expect(await ids('?status=archived')).toContain(made.id)
    expect((await patch(made.id, { name: 'Late' })).error().code).toBe('invalid_state_transition')
  })

  it('cannot be created from an invalid definition, or with read permission only', async () => {
    const refused = await api.post('/workflows', {
      name: 'Greet',
      definition: {
        steps: [
          { id: 'Greet', type: 'transform', value: 1 },
          { id: 'b', type: 'dance' },
        ],
      },
    })
    expect(refused.status).toBe(422)
    expect(refused.error().details.map(({ path }) => path)).toEqual([
      '/definition/steps/0/id',
      '/definition/steps/1/type',
    ])
    const reader = fixture.service.as({ ...principal, permissions: ['workflows:read'] })
    const { code } = (await reader.post('/workflows', { name: 'Greet', definition: hello })).error()
    expect(code).toBe('insufficient_scope')
  })

  it('is unknown to other workspaces and environments', async () => {
    const { id } = await create()
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      const client = fixture.service.as(other)
      expect((await client.get(`/workflows/${id}`)).status).toBe(404)
      expect((await client.get(`/workflows/${id}/versions`)).status).toBe(404)
      expect((await client.post(`/workflows/${id}/publish`, {})).status).toBe(404)
    }
  })

  it('reports its problems with step and path, and cannot be published while it has any', async () => {
    const { id, problems } = await create({
      trigger: { type: 'event', events: ['incident.created', 'dog.barked'] },
      steps: [
        { id: 'a', type: 'transform', value: { text: 'so {{ steps.b.output', ok: '{{ steps.b.output }}' } },
        { id: 'b', type: 'transform', value: ['{{ $sum( }}', '{{ steps.gone.output }}', '{{ item.x }}'] },
        {
          id: 'each',
          type: 'for_each',
          items: '{{ input }}',
          steps: [{ id: 'c', type: 'transform', value: '{{ item }}' }],
        },
        { id: 'child', type: 'workflow', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' },
        { id: 'stop', type: 'stop', output: '{{ steps.c.output }}' },
        { id: 'b', type: 'transform', value: 1 },
      ],
    })
    const found = problems.map(({ step, path, code }) => [step, path, code])
    expect(found).toEqual(
      expect.arrayContaining([
        [null, '/trigger/events/1', 'unknown_event'],
        ['a', '/steps/0/value/text', 'unterminated_expression'],
        ['b', '/steps/1/value/0', expect.any(String)],
        ['b', '/steps/1/value', 'unknown_step'],
        ['b', '/steps/1/value', 'unknown_name'],
        ['child', '/steps/3/workflow', 'unknown_workflow'],
        ['stop', '/steps/4/output', 'step_not_run_before'],
        ['b', '/steps/5', 'unreachable_step'],
        ['b', '/steps/5/id', 'repeated_id'],
      ]),
    )
    const refused = (await api.post(`/workflows/${id}/publish`, {})).error()
    expect(refused.code).toBe('validation_failed')
    expect(refused.details.map(({ path }) => path)).toEqual(problems.map(({ path }) => `/definition${path}`))
  })

  it('supports If-Match and Idempotency-Key', async () => {
    const { id } = await create()
    const stale = await api.send('PATCH', `/workflows/${id}`, {
      body: { name: 'B' },
      headers: { 'If-Match': '"7"' },
    })
    expect(stale.error().code).toBe('precondition_failed')
    const again = () =>
      api.send('POST', '/workflows', {
        body: { name: 'Once', definition: hello },
        headers: { 'Idempotency-Key': 'make-it-once' },
      })
    const [first, second] = [await again(), await again()]
    expect(second.data(WorkflowWithDraft)).toEqual(first.data(WorkflowWithDraft))
  })
})

it('an archived workflow revokes the grants of its versions when its last run has ended', async () => {
  const { id } = await create({ steps: [{ id: 'nap', type: 'wait', seconds: 3_600 }] })
  const { granted, revoked } = fixture.settings
  await act(id, 'publish')
  await act(id, 'publish')
  const grants = [`grant-${granted.length - 1}`, `grant-${granted.length}`]
  const { runId } = (await api.post(`/workflows/${id}/trigger`, {})).data(TriggeredRun)
  expect((await api.send('DELETE', `/workflows/${id}`)).status).toBe(204)
  // The grant of the first version, which no run used, was revoked when the second was published.
  expect(revoked.filter((grant) => grants.includes(grant))).toEqual([grants[0]])
  expect((await api.post(`/runs/${runId}/cancel`, {})).status).toBe(200)
  for (let look = 0; look < 2; look++) await settle()
  expect(revoked.filter((grant) => grants.includes(grant)).sort()).toEqual(grants)
  const other = await create(hello)
  await act(other.id, 'publish')
  const last = `grant-${granted.length}`
  expect((await api.send('DELETE', `/workflows/${other.id}`)).status).toBe(204)
  expect(revoked).toContain(last)
})

/** Runs the daily revocation over all workflows. */
const settle = () =>
  createGrantRevocations(
    fixture.service,
    { revoke: async (grant) => void fixture.settings.revoked.push(grant) },
    createLogger({ service: 'test', level: 'silent' }),
  ).settle()

describe('the grant of a version', () => {
  const nap = (seconds: number): DefinitionInput => ({ steps: [{ id: 'nap', type: 'wait', seconds }] })
  const publish = async (id: string) => {
    await act(id, 'publish')
    return `grant-${fixture.settings.granted.length}`
  }
  const start = async (id: string) =>
    (await api.post(`/workflows/${id}/trigger`, {})).data(TriggeredRun).runId

  it('is revoked once another version is published and its last run has ended, but not earlier', async () => {
    const { revoked } = fixture.settings
    const { id } = await create(nap(3_600))
    const first = await publish(id)
    const runs = [await start(id), await start(id)]
    const second = await publish(id)
    await settle()
    expect(revoked).not.toContain(first)
    expect((await api.post(`/runs/${runs[0]}/cancel`, {})).status).toBe(200)
    await settle()
    expect(revoked).not.toContain(first)
    expect((await api.post(`/runs/${runs[1]}/cancel`, {})).status).toBe(200)
    await settle()
    await settle()
    expect(revoked.filter((grant) => grant === first)).toHaveLength(1)
    // It can be run manually whether or not it is active, so its grant remains.
    await act(id, 'activate')
    await act(id, 'deactivate')
    await settle()
    expect(revoked).not.toContain(second)
  })

  it('is replaced when the version is rolled back to, or when one of its runs is retried', async () => {
    const { revoked, granted } = fixture.settings
    const latest = () => `grant-${granted.length}`
    const { id } = await create(nap(3_600))
    const first = await publish(id)
    const runId = await start(id)
    expect((await api.post(`/runs/${runId}/cancel`, {})).status).toBe(200)
    const second = await publish(id)
    expect(revoked).toContain(first)
    expect((await api.post(`/runs/${runId}/retry`, {})).status).toBe(200)
    const ofRun = latest()
    expect(ofRun).not.toBe(second)
    await settle()
    expect(revoked).not.toContain(ofRun)
    expect((await api.post(`/runs/${runId}/cancel`, {})).status).toBe(200)
    await fixture.service.sql`update version_grants
      set state = jsonb_set(state::jsonb, '{givenAt}', '"2026-01-01T00:00:00.000Z"')::json where run_id = ${runId}`
    await settle()
    expect(revoked).toContain(ofRun)
    expect((await api.post(`/workflows/${id}/rollback`, { to: 1 })).status).toBe(200)
    const third = latest()
    expect(third).not.toBe(ofRun)
    await settle()
    expect(revoked).toEqual(expect.arrayContaining([first, second, ofRun]))
    expect(revoked).not.toContain(third)
    expect(new Set(revoked).size).toBe(revoked.length)
  })
})

describe('versions', () => {
  it('can be published, listed, compared and rolled back to, and never change', async () => {
    const { id } = await create(greeting('one'))
    expect((await api.post(`/workflows/${id}/activate`, {})).error().code).toBe('invalid_state_transition')
    expect((await api.post(`/workflows/${id}/rollback`, { to: 1 })).status).toBe(404)
    const one = await act(id, 'publish', { note: 'the first' })
    expect(one).toMatchObject({
      ...{ publishedVersion: 1, latestVersion: 1, draftChanged: false, status: 'inactive' },
      ...{ triggerType: 'manual', ownerId: principal.userId },
    })
    expect(fixture.settings.granted.at(-1)).toEqual({
      ...{ run: `${id}.1`, permissions: [], expiresInSeconds: null },
    })

    await patch(id, { definition: greeting('two') })
    expect(await act(id, 'publish', { activate: true })).toMatchObject({
      publishedVersion: 2,
      status: 'active',
    })
    const listed = (await api.get(`/workflows/${id}/versions?limit=1`)).page(WorkflowVersion)
    expect(listed.items).toMatchObject([{ number: 2, current: true, stepCount: 1 }])
    const rest = (
      await api.get(`/workflows/${id}/versions?limit=1&after=${listed.pagination.nextCursor}`)
    ).page(WorkflowVersion)
    expect(rest.items).toMatchObject([{ number: 1, current: false, note: 'the first' }])

    const diff = (await api.get(`/workflows/${id}/versions/1/diff/2`)).data(WorkflowDiff)
    expect(diff.changes).toEqual([{ path: '/steps/0/value', kind: 'changed', before: 'one', after: 'two' }])

    const back = await act(id, 'rollback', { to: 1 })
    expect(back).toMatchObject({
      publishedVersion: 1,
      latestVersion: 2,
      draftChanged: true,
      status: 'active',
    })
    expect(await act(id, 'rollback', { to: 1 })).toEqual(back)
    const first = (await api.get(`/workflows/${id}/versions/1`)).data(WorkflowVersionWithDefinition)
    expect(first).toMatchObject({ current: true, definition: { steps: [{ value: 'one' }] } })
    expect((await api.get(`/workflows/${id}/versions/01`)).status).toBe(404)
    await expect(
      fixture.service.sql`update workflow_versions set version = version + 1 where id = ${`${id}.1`}`,
    ).rejects.toThrow('never changes')
  })

  it('are numbered without gaps when several are published concurrently', async () => {
    const { id } = await create()
    const answers = await Promise.all([1, 2, 3].map(() => api.post(`/workflows/${id}/publish`, {})))
    for (const { status } of answers) expect([200, 409]).toContain(status)
    const published = answers.filter(({ status }) => status === 200).length
    const { items } = (await api.get(`/workflows/${id}/versions`)).page(WorkflowVersion)
    expect(items.map(({ number }) => number)).toEqual(
      Array.from({ length: published }, (_, at) => published - at),
    )
  })

  it('require a publisher with the right to read their events and to use secrets', async () => {
    const { id } = await create({
      trigger: { type: 'event', events: ['incident.*'] },
      steps: [
        {
          id: 'call',
          type: 'http',
          url: 'https://example.com',
          headers: { authorization: '{{secrets.key}}' },
        },
        { id: 'hold', type: 'wait', event: { types: ['change.approved'] } },
      ],
    })
    const writer = fixture.service.as({ ...principal, permissions: ['workflows:read', 'workflows:write'] })
    const refused = (await writer.post(`/workflows/${id}/publish`, {})).error()
    expect(refused.code).toBe('forbidden')
    expect(refused.details[0]?.params).toEqual({ missing: ['secrets:use', 'itsm:read'] })
    expect(await act(id, 'publish')).toMatchObject({ publishedVersion: 1 })
  })
})

it('rejects cycles of workflows that call each other', async () => {
  const inner = await create(hello, 'Inner')
  const outer = await create({ steps: [{ id: 'run', type: 'workflow', workflow: inner.id }] }, 'Outer')
  expect(outer.problems).toMatchObject([{ code: 'workflow_not_published', path: '/steps/0/workflow' }])
  await act(inner.id, 'publish')
  await act(outer.id, 'publish')
  const cycle = await patch(inner.id, {
    definition: { steps: [{ id: 'back', type: 'workflow', workflow: outer.id }] },
  })
  expect(cycle.data(WorkflowWithDraft).problems).toMatchObject([{ step: 'back', code: 'workflow_cycle' }])
})

it('a workflow has an inbound webhook URL that can be rotated and appears in no event', async () => {
  const { id } = await create()
  const hook = (await api.get(`/workflows/${id}/hook`)).data(WorkflowHook)
  expect(hook.path).toMatch(/^\/hooks\/hk_[0-9A-Z]{26}$/)
  const rotated = (await api.post(`/workflows/${id}/hook/rotate`, {})).data(WorkflowHook)
  expect(rotated).not.toEqual(hook)
  expect((await api.get(`/workflows/${id}/hook`)).data(WorkflowHook)).toEqual(rotated)
  const events = await fixture.service
    .sql`select type, data::text as data from events where stream_id = ${id}`
  expect(events.map(({ type }) => type)).toEqual(['workflow.created', 'workflow.hook_rotated'])
  for (const { data } of events) expect(data).not.toContain('hk_')
})

it('serves the JSON Schema of definitions with every step type', async () => {
  const text = JSON.stringify((await api.get('/workflows/schema')).data(z.looseObject({})))
  for (const type of ['http', 'api', 'for_each', 'approval', 'event_bus'])
    expect(text).toContain(`"const":"${type}"`)
})

it('workflows are the same after a rebuild from their events, including data stored outside the events', async () => {
  const rows = () => fixture.service.sql`
    select 'workflow' as kind, id, version, state::text from workflows
    union all select 'draft', id, version, state::text from workflow_drafts
    union all select 'version', id, version, state::text from workflow_versions order by 1, 2`
  const before = await rows()
  expect(before.length).toBeGreaterThan(10)
  await fixture.service.rebuild()
  expect(await rows()).toEqual(before)
})
