import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  eventExample,
  natsNames,
  newId,
  type Permission,
  type PlatformEvent,
  permissions,
  Run,
  SkippedTrigger,
  TriggeredRun,
  Workflow,
  WorkflowHook,
  WorkflowWithDraft,
} from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { type ApiClient, signedHeaders, testNatsUrl, testPrincipal, waitFor } from '@opsplane/testing'
import { type DefinitionInput, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let link: NatsLink
const connector = newId('connector')
beforeAll(async () => {
  link = connectNats({
    url: testNatsUrl(),
    name: 'test',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  fixture = await startWorkflows()
  fixture.settings.connectors.set('production', new Map([['Chat', connector]]))
})
afterAll(async () => {
  await link?.close()
  await fixture?.stop()
})

const workspaceId = newId('workspace')
const without: readonly Permission[] = permissions.filter((each) => each !== 'secrets:use')
/** A member of the workspace with the permissions `held`. */
const person = (held: readonly Permission[] = permissions) => {
  const principal = testPrincipal({
    userId: newId('user'),
    workspaceId,
    permissions: [...held],
    role: 'admin',
  })
  fixture.settings.rights.set(principal.userId, [...held])
  return { ...principal, api: fixture.service.as(principal) }
}
type Person = ReturnType<typeof person>

/** Needs `secrets:use` of its giver, and fails at the connector, where the grant becomes visible. */
const needySteps = [
  {
    ...{ id: 'call', type: 'connector' as const, connector },
    ...{ action: 'send', input: { key: '{{secrets.key}}' } },
  },
]
const needy: DefinitionInput = {
  trigger: { type: 'webhook' },
  steps: needySteps,
}
const asking: DefinitionInput = {
  steps: [
    { id: 'ask', type: 'approval', title: 'Go?', approvers: { users: [], roles: ['admin'] } },
    ...needySteps,
  ],
}

const create = async ({ api }: Person, definition: DefinitionInput, name = 'Carried') =>
  (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft).id
const act = (api: ApiClient, id: string, action: string, body: object = {}) =>
  api.post(`/workflows/${id}/${action}`, body)
const read = async ({ api }: Person, id: string) =>
  (await api.get(`/workflows/${id}`)).data(WorkflowWithDraft)
const latestGrant = () => `grant-${fixture.settings.granted.length}`
const grantsUsed = () => fixture.settings.delegated.map(({ grant }) => grant)

/** The person leaves the workspace (`null`), or loses all permissions not in `held`. */
async function loses(whose: Person, held: readonly Permission[] | null) {
  fixture.settings.rights.set(whose.userId, held && [...held])
  const example: PlatformEvent = eventExample('user.role_changed')
  const event = {
    ...example,
    ...{ id: newId('event'), workspaceId, environment: 'production' as const },
    resource: { ...example.resource, id: whose.userId },
  }
  const subject = natsNames(fixture.service.natsPrefix).eventSubject(event)
  const body = JSON.stringify(event)
  const headers = signedHeaders({ subject, body })
  await (await link.ready()).request(subject, body, { timeout: 30_000, headers })
}

const suspended = (whose: Person, id: string) =>
  waitFor(async () => {
    expect(await read(whose, id)).toMatchObject({ status: 'inactive', deactivatedReason: 'owner_rights' })
    return true
  })

let builder: Person
let id: string
beforeEach(async () => {
  fixture.settings.delegated.length = 0
  builder = person()
})

/** A workflow published twice and active, whose giver, the builder, then loses `secrets:use`. */
async function givenByOneWhoLost(activate = true) {
  id = await create(builder, needy)
  for (const _ of [1, 2]) expect((await act(builder.api, id, 'publish', { activate })).status).toBe(200)
  await loses(builder, without)
  await suspended(builder, id)
}

const takingOver: [action: string, body: object][] = [
  ['activate', {}],
  ['rollback', { to: 1 }],
  ['rollback', { to: 2 }],
  ['publish', {}],
]

describe.each(takingOver)('%s %j of a workflow whose owner has lost a right', (action, body) => {
  it('is rejected for a user who lacks the right, and makes a user with the right the owner in one call', async () => {
    await givenByOneWhoLost()
    const refused = (await act(person(without).api, id, action, body)).error()
    expect(refused).toMatchObject({
      code: 'forbidden',
      details: [{ code: 'permission_not_held', params: { missing: ['secrets:use'] } }],
    })
    expect(await read(builder, id)).toMatchObject({
      ownerId: builder.userId,
      deactivatedReason: 'owner_rights',
    })

    const heir = person()
    const before = latestGrant()
    const done = (await act(heir.api, id, action, body)).data(Workflow)
    expect(done).toMatchObject({
      ...{ ownerId: heir.userId, deactivatedReason: null },
      status: action === 'activate' ? 'active' : 'inactive',
    })
    const given = latestGrant()
    expect(given).not.toBe(before)
    expect(fixture.settings.revoked).toContain(before)
    const started = await act(heir.api, id, 'trigger?wait=20')
    expect(started.data(TriggeredRun).ended).toBe(true)
    expect(grantsUsed().at(-1)).toBe(given)
    expect(grantsUsed()).not.toContain(before)
  })

  it('also makes another user the owner if the workflow is not suspended', async () => {
    id = await create(builder, needy)
    for (const _ of [1, 2]) await act(builder.api, id, 'publish', { activate: true })
    const before = latestGrant()
    expect((await act(person(without).api, id, action, body)).error().code).toBe('forbidden')
    const heir = person()
    expect((await act(heir.api, id, action, body)).data(Workflow)).toMatchObject({
      ...{ ownerId: heir.userId, status: 'active' },
    })
    expect(fixture.settings.revoked).toContain(before)
    // Repeated by the owner, the action changes nothing, except for publishing.
    const { version } = await read(heir, id)
    const given = latestGrant()
    if (action !== 'publish')
      expect((await act(heir.api, id, action, body)).data(Workflow).version).toBe(version)
    if (action !== 'publish') expect(latestGrant()).toBe(given)
  })
})

describe.each<[string, DefinitionInput, Permission[]]>([
  ['an operation', { steps: [{ id: 's', type: 'api', operation: 'createIncident' }] }, ['itsm:write']],
  [
    'a connector',
    { steps: [{ id: 's', type: 'connector', connector, action: 'send' }] },
    ['connectors:invoke'],
  ],
  [
    'an artifact',
    { steps: [{ id: 's', type: 'artifact', artifact: 'enrich' }] },
    ['cmdb:read', 'sdk:invoke'],
  ],
  [
    'a topic',
    { steps: [{ id: 's', type: 'publish', topic: 'orders', eventType: 'made', payload: 1 }] },
    ['topics:write'],
  ],
  ['a secret', { steps: [{ id: 's', type: 'transform', value: '{{secrets.key}}' }] }, ['secrets:use']],
  [
    'what it names itself',
    { steps: [{ id: 's', type: 'transform', value: 1 }], permissions: ['analytics:export'] },
    ['analytics:export'],
  ],
  ['nothing', { steps: [{ id: 's', type: 'transform', value: 1 }] }, []],
])('a version whose steps need %s', (_, definition, taken) => {
  it('can be published only with the required permissions, and its grant contains no others', async () => {
    fixture.settings.artifactNeeds = ['cmdb:read']
    id = await create(builder, definition)
    const publish = ['publish', {}] as const
    for (const [action, body] of [publish, publish, ...takingOver]) {
      for (const lacked of taken) {
        const lacking = person(permissions.filter((each) => each !== lacked))
        expect((await act(lacking.api, id, action, body)).error()).toMatchObject({
          details: [{ code: 'permission_not_held', params: { missing: [lacked] } }],
        })
      }
      const giver = person(['workflows:read', 'workflows:write', ...taken])
      expect((await act(giver.api, id, action, body)).status).toBe(200)
      expect(fixture.settings.granted.at(-1)?.permissions).toEqual(taken)
    }
  })
})

describe('a suspended workflow', () => {
  const owes = { code: 'invalid_state_transition', details: [{ code: 'owner_rights' }] }

  it.each([true, false])(
    'starts no run, whether it was active (%s) or not, and reports the reason',
    async (activate) => {
      const hooked = await create(builder, needy)
      await act(builder.api, hooked, 'publish', { activate: true })
      const { path } = (await builder.api.get(`/workflows/${hooked}/hook`)).data(WorkflowHook)
      const outer = person()
      await givenByOneWhoLost(activate)
      await suspended(builder, hooked)
      // The rights of the person who starts it are not used, whether sufficient or not.
      for (const held of [permissions, without])
        expect((await act(person(held).api, id, 'trigger')).error()).toMatchObject(owes)
      expect((await fixture.service.as().post(`/origin${path}`, {})).error()).toMatchObject(owes)
      const parent = await create(outer, { steps: [{ id: 'sub', type: 'workflow', workflow: id }] }, 'Outer')
      await act(outer.api, parent, 'publish')
      expect((await act(outer.api, parent, 'trigger?wait=20')).data(TriggeredRun)).toMatchObject({
        ...{ status: 'failed', error: { code: 'invalid_state_transition', details: owes.details } },
      })
      for (const each of [id, hooked])
        expect((await builder.api.get(`/workflows/${each}/runs`)).page(Run).items).toEqual([])
      expect((await read(builder, id)).allowedActions).not.toContain('trigger')
    },
  )

  it.each<[string, DefinitionInput['trigger']]>([
    ['events', { type: 'event', events: ['workflow.created'] }],
    ['its schedule', { type: 'schedule', schedule: { everySeconds: 1 } }],
  ])('is started by %s again only after it has been taken over', async (_, trigger) => {
    const name = 'Started'
    id = await create(builder, { ...needy, ...(trigger && { trigger }) }, name)
    await act(builder.api, id, 'publish', { activate: true })
    await loses(builder, without)
    await suspended(builder, id)
    const runs = async () => (await builder.api.get(`/workflows/${id}/runs`)).page(Run).items
    const other = person()
    if (trigger?.type === 'event') await create(other, needy)
    const before = (await runs()).length
    await act(other.api, id, 'activate')
    const { updatedAt } = await read(other, id)
    await create(other, needy)
    const started = await waitFor(async () => {
      const found = await runs()
      return found.length > before ? found : undefined
    })
    expect(started.filter(({ queuedAt }) => queuedAt < updatedAt)).toHaveLength(before)
    await act(other.api, id, 'deactivate')
    expect((await builder.api.get(`/workflows/${id}/skipped-triggers`)).page(SkippedTrigger).items).toEqual(
      [],
    )
  })
})

describe('a run whose grantor has lost the rights', () => {
  const failedRun = async () => {
    id = await create(builder, needy)
    await act(builder.api, id, 'publish')
    const { runId } = (await act(builder.api, id, 'trigger?wait=20')).data(TriggeredRun)
    return runId
  }
  const retry = async ({ api }: Person, runId: string) => api.post(`/runs/${runId}/retry`, {})
  const attempt = (runId: string, number: number) =>
    waitFor(async () => {
      const run = (await builder.api.get(`/runs/${runId}`)).data(Run.pick({ status: true, attempt: true }))
      expect(run).toEqual({ status: 'failed', attempt: number })
      return true
    })

  it('can be retried only by a user with the rights, who becomes the grantor of that run alone', async () => {
    const runId = await failedRun()
    const first = latestGrant()
    // While the giver has the rights, those of the person who retries are not used.
    expect((await retry(person(without), runId)).status).toBe(200)
    await attempt(runId, 2)
    expect(latestGrant()).toBe(first)
    await loses(builder, null)
    await suspended(builder, id)
    expect((await retry(person(without), runId)).error()).toMatchObject({
      ...{
        code: 'forbidden',
        details: [{ code: 'permission_not_held', params: { missing: ['secrets:use'] } }],
      },
    })
    const heir = person()
    expect((await retry(heir, runId)).status).toBe(200)
    await attempt(runId, 3)
    expect(grantsUsed().at(-1)).toBe(latestGrant())
    expect(latestGrant()).not.toBe(first)
    expect(await read(heir, id)).toMatchObject({ ownerId: builder.userId, deactivatedReason: 'owner_rights' })
  })

  it('is retried with its failed child run by the rights of one user, or not at all', async () => {
    const inner = await create(builder, needy, 'Inner')
    await act(builder.api, inner, 'publish')
    const parent = person()
    id = await create(parent, { steps: [{ id: 'sub', type: 'workflow', workflow: inner }] }, 'Parent')
    await act(parent.api, id, 'publish')
    const { runId } = (await act(parent.api, id, 'trigger?wait=20')).data(TriggeredRun)
    const [child] = (await parent.api.get(`/workflows/${inner}/runs`)).page(Run).items
    await loses(builder, null)
    await suspended(builder, inner)
    const refused = (await retry(person(without), runId)).error()
    expect(refused).toMatchObject({ details: [{ params: { missing: ['secrets:use'] } }] })
    const grants = fixture.settings.granted.length
    expect((await retry(person(), runId)).status).toBe(200)
    await attempt(runId, 2)
    await attempt(child?.id ?? '', 2)
    // The parent acts with the same rights as before.
    expect(fixture.settings.granted).toHaveLength(grants + 1)
    expect(grantsUsed().at(-1)).toBe(latestGrant())
    const heir = person()
    await loses(parent, null)
    await suspended(parent, id)
    expect((await retry(heir, runId)).status).toBe(200)
    await attempt(runId, 3)
    expect(fixture.settings.granted).toHaveLength(grants + 2)
  })

  it('continues after a decision with the remaining rights of its grantor, not with those of the approver', async () => {
    id = await create(builder, asking)
    await act(builder.api, id, 'publish')
    const given = latestGrant()
    const { runId } = (await act(builder.api, id, 'trigger')).data(TriggeredRun)
    const status = async () =>
      (await builder.api.get(`/runs/${runId}`)).data(Run.pick({ status: true })).status
    await waitFor(async () => (await status()) === 'paused')
    await loses(builder, without)
    await suspended(builder, id)
    const decided = await person(without).api.post(`/runs/${runId}/resume`, { decision: 'approve' })
    expect(decided.status).toBe(200)
    await waitFor(async () => (await status()) === 'failed')
    expect(latestGrant()).toBe(given)
    expect(grantsUsed().at(-1)).toBe(given)
  })

  it('passes on the user who started it manually, so that their row rules apply', async () => {
    id = await create(builder, needy)
    await act(builder.api, id, 'publish')
    const asker = person(['workflows:run', 'runs:read'])
    await act(asker.api, id, 'trigger?wait=20')
    expect(fixture.settings.delegated.at(-1)).toMatchObject({
      callers: [{ userId: asker.userId, tokenId: asker.tokenId }],
      callerRights: 'rows',
    })
  })
})

it('rejects the retry of a completed run, and explains how to run the workflow again', async () => {
  id = await create(builder, { steps: [{ id: 'only', type: 'transform', value: 1 }] })
  await act(builder.api, id, 'publish')
  const { runId } = (await act(builder.api, id, 'trigger?wait=20')).data(TriggeredRun)
  for (const body of [{}, { from: 'only' }]) {
    const refused = (await builder.api.post(`/runs/${runId}/retry`, body)).error()
    expect(refused.code).toBe('invalid_state_transition')
    expect(refused.message).toContain('Cannot retry while completed')
    expect(refused.message).toContain(`POST /workflows/${id}/trigger`)
  }
})
