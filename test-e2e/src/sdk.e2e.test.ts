import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Artifact, Execution } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
/** Paths below the origin, outside of the versioned prefix. */
let atOrigin: Api
let atOriginUrl: string
let receiver: Receiver
/** Answers no request until it is released. */
let holding: Receiver
let released: Promise<void>

const log = '/api/service-sdk'
const slugs = ['open-incident', 'fails', 'orders', 'again', 'waits'] as const
const artifacts = {} as Record<(typeof slugs)[number], Artifact>

const pack = {
  manifest: {
    ...{ format: 'opsplane.pack/1', name: 'desk', version: '1.0.0' },
    artifacts: [
      {
        ...{ slug: 'open-incident', kind: 'workflow_action', source: 'open.ts' },
        permissions: { api: ['createIncident'] },
        input: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } },
      },
      { slug: 'fails', kind: 'workflow_action', source: 'fails.ts' },
      {
        ...{ slug: 'waits', kind: 'workflow_action', source: 'waits.ts', limits: { wallMs: 60_000 } },
        permissions: { http: ['127.0.0.1'] },
      },
      { slug: 'orders', kind: 'api', source: 'orders.ts', api: { methods: ['PUT'], headers: ['x-page'] } },
      {
        ...{ slug: 'again', kind: 'business_rule', source: 'again.ts' },
        rule: { events: ['workflow.run_completed'] },
        permissions: { api: ['triggerWorkflow'] },
      },
    ],
  },
  files: {
    'open.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async ({ title }: { title: string }, host) => {
        const { data } = await host.api<{ id: string }>({ operation: 'createIncident', body: { title } })
        return { incidentId: data.id }
      })`,
    'fails.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async () => { throw new Error('no luck') })`,
    'waits.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async ({ url }: { url: string }, host) => {
        await host.http({ url })
        return 'done'
      })`,
    'orders.ts': `import { type ApiRequest, type ApiResponse, artifact } from '@opsplane/sdk'
      export default artifact(async (request: ApiRequest): Promise<ApiResponse> => ({
        status: 201,
        headers: { 'x-artifact-page': request.headers['x-page'] ?? '' },
        body: { path: request.path, query: request.query, body: request.body },
      }))`,
    'again.ts': `import { artifact } from '@opsplane/sdk'
      type Event = { data: { id: string; workflowId: string; workflowName: string } }
      export default artifact(async ({ data }: Event, host) => {
        if (data.workflowName === 'Loops')
          await host.api({ operation: 'triggerWorkflow', params: { id: data.workflowId }, body: {} })
        return data.workflowName
      })`,
  },
}

interface Data<T> {
  data: T
}
type Page<T> = Data<T[]>
interface Refused {
  error: { code: string; details: { path: string; code: string }[] }
}

const invoke = async (slug: string, input: object = {}) => {
  const { status, body } = await api<Data<Execution>>('POST', `/sdk/artifacts/${slug}/invoke`, {
    body: { input },
  })
  expect(status).toBe(200)
  return body.data
}
const listed = async (path: string) => {
  const { status, body } = await atOrigin<Page<Execution>>('GET', `${log}${path}`)
  expect(status).toBe(200)
  return body.data
}

beforeAll(async () => {
  // Short leases, so that the work of a killed process is soon released.
  cluster = await startTestCluster({
    services: ['itsm', 'dispatcher', 'workflows', 'sdk'],
    extra: { SDK_LEASE_MS: '8000', WORKFLOW_LEASE_MS: '4000' },
  })
  const { info } = cluster
  api = apiClient(info)
  atOriginUrl = new URL(info.baseUrl).origin
  atOrigin = apiClient({ ...info, baseUrl: atOriginUrl })
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200 }),
  })
  holding = await startReceiver({ tls: false, respond: () => released.then(() => ({ status: 200 })) })
})
afterAll(async () => {
  await holding?.stop()
  await receiver?.stop()
  await cluster?.stop()
})

test('a pack is installed only with the requested permissions granted, and its artifact then uses them', async () => {
  const refused = await api<Refused>('POST', '/sdk/packs/install', { body: pack })
  expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_failed'])
  const grant = { api: ['createIncident', 'triggerWorkflow'], http: ['127.0.0.1'] }
  const installed = await api('POST', '/sdk/packs/install', { body: { ...pack, grant } })
  expect(installed.status).toBe(201)
  for (const slug of slugs)
    artifacts[slug] = (await api<Data<Artifact>>('GET', `/sdk/artifacts/${slug}`)).body.data

  const execution = await invoke('open-incident', { title: 'Printer on fire' })
  expect(execution).toMatchObject({ status: 'completed', trigger_type: 'api', error: null })
  const { incidentId } = execution.output as { incidentId: string }
  const incident = await api<Data<{ title: string }>>('GET', `/itsm/incidents/${incidentId}`)
  expect(incident.body.data.title).toBe('Printer on fire')
})

test('executions are listed below the origin: all, those of an artifact, and those that touched a record', async () => {
  const done = await invoke('open-incident', { title: 'Disk full' })
  const failed = await invoke('fails')
  const { incidentId } = done.output as { incidentId: string }
  expect((await listed('/executions?limit=2')).map(({ id }) => id)).toEqual([failed.id, done.id])
  expect((await listed(`/executions?success=false`)).map(({ id }) => id)).toEqual([failed.id])
  expect((await listed(`/artifacts/${artifacts.fails.id}/executions`)).map(({ id }) => id)).toEqual([
    failed.id,
  ])
  const { id } = artifacts['open-incident']
  expect(await listed(`/artifacts/${id}/related-executions?recordId=${incidentId}`)).toEqual([done])
  const withoutRecord = await atOrigin<Refused>('GET', `${log}/artifacts/${id}/related-executions`)
  expect(withoutRecord.body.error).toMatchObject({
    code: 'validation_failed',
    details: [{ path: '/recordId' }],
  })
  expect((await api('GET', `${log}/executions`)).status).toBe(404)
})

test.each([
  '/executions',
  '/artifacts/open-incident/executions',
  '/artifacts/open-incident/related-executions?recordId=inc_1',
])('%s requires a token and a workspace', async (path) => {
  const status = async (headers: Record<string, string | undefined>) => {
    const answer = await atOrigin<Refused>('GET', `${log}${path}`, { headers })
    return [answer.status, answer.body.error?.code]
  }
  expect(await status({})).toEqual([200, undefined])
  expect(await status({ authorization: undefined })).toEqual([401, 'unauthenticated'])
  expect(await status({ authorization: 'Bearer opk_wrong' })).toEqual([401, 'invalid_token'])
  expect(await status({ 'x-workspace': undefined })).toEqual([400, 'workspace_required'])
  expect(await status({ 'x-workspace': 'nobodys' })).toEqual([403, 'workspace_forbidden'])
})

test('a failed execution is delivered to a webhook, and its replay names the original', async () => {
  const made = await api('POST', '/webhooks', {
    body: { name: 'executions', url: `${receiver.url}/failed`, events: ['sdk.execution.failed'] },
  })
  expect(made.status).toBe(201)
  const failed = await invoke('fails')
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'error', message: 'no luck' } })
  const { body } = await atOrigin<Data<Execution>>('POST', `${log}/executions/${failed.id}/replay`)
  const replay = body.data
  expect(replay).toMatchObject({ status: 'failed', replay_of: failed.id, trigger_type: 'manual' })
  expect(replay.id).not.toBe(failed.id)
  expect((await atOrigin<Data<Execution>>('GET', `${log}/executions/${failed.id}`)).body.data).toEqual(failed)

  const sent = () =>
    receiver
      .received()
      .map(({ rawBody }) => JSON.parse(rawBody.toString()) as { event: string; data: Execution })
  const of = (id: string) => sent().find(({ data }) => data.id === id)
  await waitFor(() => of(failed.id) && of(replay.id))
  expect(of(failed.id)).toMatchObject({
    event: 'sdk.execution.failed',
    data: { artifact_slug: 'fails', status: 'failed', error: { message: 'no luck' } },
  })
  expect(of(replay.id)?.data.replay_of).toBe(failed.id)
})

test('a workflow step runs an artifact, and the execution names the run', async () => {
  const step = {
    id: 'open',
    type: 'artifact',
    artifact: 'open-incident',
    input: { title: '{{ input.title }}' },
  }
  const made = await api<Data<{ id: string; problems: unknown[] }>>('POST', '/workflows', {
    body: { name: 'Opens', definition: { steps: [step], output: '{{ steps.open.output.incidentId }}' } },
  })
  expect(made.body.data.problems).toEqual([])
  const { id } = made.body.data
  expect((await api('POST', `/workflows/${id}/publish`, { body: { activate: true } })).status).toBe(200)
  const { body } = await api<Data<{ runId: string; status: string; output: string }>>(
    'POST',
    `/workflows/${id}/trigger?wait=20`,
    { body: { input: { title: 'Down' } } },
  )
  const { runId, status, output } = body.data
  expect(status).toBe('completed')
  const executions = await listed(`/executions?triggerType=workflow_node&triggerId=${runId}`)
  expect(executions).toMatchObject([
    {
      ...{ trigger_type: 'workflow_node', trigger_id: runId, status: 'completed' },
      ...{ input: { title: 'Down' }, output: { incidentId: output } },
    },
  ])
  expect((await api('GET', `/itsm/incidents/${output}`)).status).toBe(200)
})

test('an artifact answers requests below a path of its own', async () => {
  const answer = await api('PUT', '/sdk/artifacts/orders/api/2026/a%2Fb?tag=x', {
    headers: { 'x-page': '7' },
    body: { amount: 5 },
  })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({ path: '/2026/a/b', query: { tag: 'x' }, body: { amount: 5 } })
  expect(answer.headers).toMatchObject({
    ...{ 'x-artifact-page': '7', 'cache-control': 'no-store' },
    'content-security-policy': expect.stringContaining('sandbox'),
  })
  const { 'x-execution-id': id } = answer.headers
  const execution = await atOrigin<Data<Execution>>('GET', `${log}/executions/${id}`)
  expect(execution.body.data).toMatchObject({ artifact_slug: 'orders', status: 'completed' })
  const refused = await api<Refused>('DELETE', '/sdk/artifacts/orders/api')
  expect([refused.status, refused.body.error.code]).toEqual([405, 'method_not_allowed'])
  const anonymous = await api('PUT', '/sdk/artifacts/orders/api/x', { headers: { authorization: undefined } })
  expect(anonymous.status).toBe(401)
})

/** Creates and publishes a workflow with one step. */
async function publishWorkflow(name: string): Promise<string> {
  const definition = { steps: [{ id: 'tell', type: 'transform', value: 1 }] }
  const made = await api<Data<{ id: string }>>('POST', '/workflows', { body: { name, definition } })
  const { id } = made.body.data
  expect((await api('POST', `/workflows/${id}/publish`, { body: { activate: true } })).status).toBe(200)
  return id
}

test('a rule and a workflow that cause each other stop at the maximum depth', async () => {
  const [loops, last] = [await publishWorkflow('Loops'), await publishWorkflow('Last')]
  const runsOf = async (id: string) =>
    (await api<Page<{ id: string }>>('GET', `/runs?workflowId=${id}&limit=50`)).body.data.length
  const outputs = async () =>
    (await listed('/artifacts/again/executions?limit=50')).map(({ output }) => output)
  expect((await api('POST', `/workflows/${loops}/trigger?wait=20`, { body: {} })).status).toBe(202)
  // Ten levels: runs at 0, 2, … 10, and executions of the rule between them.
  await waitFor(async () => (await runsOf(loops)) === 6)
  // A later event in the log is handled after them.
  await api('POST', `/workflows/${last}/trigger?wait=20`, { body: {} })
  const ended = await waitFor(async () => {
    const found = await outputs()
    // The last execution of the loop may end later than one that started after it.
    return found.includes('Last') && !found.includes(null) && found
  })
  expect(ended.filter((output) => output === 'Loops')).toHaveLength(5)
  expect(await runsOf(loops)).toBe(6)
})

test('invoking an artifact gains no rights beyond those of the invoker', async () => {
  const scopes = ['sdk:invoke', 'executions:read']
  const { body } = await api<Data<{ token: string }>>('POST', '/auth/tokens', {
    body: { name: 'invokes', scopes },
  })
  const limited = apiClient({ ...cluster.info, apiKey: body.data.token })
  const incidents = async () =>
    (await api<Page<{ title: string }>>('GET', '/itsm/incidents?limit=200')).body.data.map(
      ({ title }) => title,
    )
  const refused = { status: 'failed', error: { message: expect.stringContaining('itsm:write') } }

  const path = '/sdk/artifacts/open-incident/invoke'
  const sync = await limited<Data<Execution>>('POST', path, { body: { input: { title: 'Gained' } } })
  expect(sync.body.data).toMatchObject(refused)
  const async = await limited<Data<Execution>>('POST', path, {
    body: { mode: 'async', input: { title: 'Gained later' } },
  })
  const ended = async () => {
    const found = await atOrigin<Data<Execution>>('GET', `${log}/executions/${async.body.data.id}`)
    return found.body.data.status !== 'running' && found.body.data
  }
  expect(await waitFor(ended)).toMatchObject(refused)
  const { id } = await invoke('open-incident', { title: 'Mine' })
  const replay = await apiClient({ ...cluster.info, baseUrl: atOriginUrl, apiKey: body.data.token })<
    Data<Execution>
  >('POST', `${log}/executions/${id}/replay`)
  expect(replay.body.data).toMatchObject(refused)
  expect((await incidents()).filter((title) => /^(Gained|Mine)/.test(title))).toEqual(['Mine'])
})

test.each([
  ['sdk', 'is recorded as interrupted, and tried again as its policy says', ['interrupted', undefined]],
  ['workflows', 'answers it with what it has come to, and is not begun again', [undefined]],
] as const)('the execution of a workflow step during which %s is killed %s', async (killed, _, codes) => {
  const step = { id: 'wait', type: 'artifact', artifact: 'waits', input: '{{ input }}' }
  const definition = {
    steps: [{ ...step, retry: { attempts: 20, delaySeconds: 0.5, maxDelaySeconds: 5 } }],
    output: '{{ steps.wait.output }}',
  }
  let release = () => {}
  released = new Promise((resolve) => {
    release = resolve
  })
  const name = `Waits ${killed}`
  const made = await api<Data<{ id: string }>>('POST', '/workflows', { body: { name, definition } })
  const { id } = made.body.data
  expect((await api('POST', `/workflows/${id}/publish`, { body: {} })).status).toBe(200)
  const started = await api<Data<{ runId: string }>>('POST', `/workflows/${id}/trigger`, {
    body: { input: { url: `${holding.url}/${killed}` } },
  })
  const { runId } = started.body.data
  await waitFor(() => holding.received().some(({ path }) => path === `/${killed}`))
  await cluster.services[killed].kill()
  await cluster.services[killed].start()
  release()

  const run = await waitFor(async () => {
    const { data } = (await api<Data<{ status: string; endedAt: string | null }>>('GET', `/runs/${runId}`))
      .body
    return data.endedAt !== null && data
  })
  expect(run).toMatchObject({ status: 'completed', output: { value: 'done' } })
  const ended = await waitFor(async () => {
    const found = await listed(`/executions?triggerType=workflow_node&triggerId=${runId}`)
    return found.every(({ status }) => status !== 'running') && found.reverse()
  })
  expect(ended.map(({ error }) => error?.code)).toEqual(codes)
  expect(ended.at(-1)).toMatchObject({ status: 'completed', output: 'done' })
})
