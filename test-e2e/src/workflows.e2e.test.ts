import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: Api
let receiver: Receiver

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: () => ({ status: 200 }),
  })
})
afterAll(async () => {
  await receiver?.stop()
})

interface Data<T> {
  data: T
}
interface Run {
  runId: string
  status: string
  output: unknown
}

const deliveries = () => receiver.received().map(({ headers }) => String(headers['x-service-event']))

async function published(name: string, definition: object): Promise<string> {
  const made = await api<Data<{ id: string; problems: unknown[] }>>('POST', '/workflows', {
    body: { name, definition },
  })
  expect(made.body.data.problems).toEqual([])
  const { id } = made.body.data
  const { status } = await api('POST', `/workflows/${id}/publish`, { body: { activate: true } })
  expect(status).toBe(200)
  return id
}
const start = async (id: string, body: object = {}) => {
  const { body: answer } = await api<Data<Run>>('POST', `/workflows/${id}/trigger?wait=20`, { body })
  return answer.data
}

const examples = new URL('../../docs/examples/workflows/', import.meta.url)
/** Ids and names that readers of an example replace. */
const placeholders = ['connector', 'workflow', 'secret', 'table'].map((sort) => `unknown_${sort}`)

test.each(readdirSync(examples).filter((name) => name.endsWith('.json')))(
  'the example %s has no unknown references other than its placeholders',
  async (file) => {
    const body = JSON.parse(readFileSync(new URL(file, examples), 'utf8'))
    const made = await api<Data<{ problems: { code: string }[] }>>('POST', '/workflows', { body })
    const problems = made.body.data.problems.filter(({ code }) => !placeholders.includes(code))
    expect(problems).toEqual([])
    const { body: kinds } = await api<Data<{ actions: { name: string }[] }[]>>('GET', '/connectors/kinds')
    const known = kinds.data.flatMap(({ actions }) => actions.map(({ name }) => name))
    const actions = [...JSON.stringify(body).matchAll(/"action":"(\w+)"/g)].map(([, name]) => name)
    expect(known).toEqual(expect.arrayContaining(actions))
  },
)

test('a definition with unknown references is saved with its problems, but cannot be published', async () => {
  const approvers = { users: ['usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'], roles: ['unknown'] }
  const steps = [
    { id: 'a', type: 'http', url: 'https://10.0.0.1/', headers: { key: '{{secrets.absent}}' } },
    { id: 'b', type: 'artifact', artifact: 'absent' },
    { id: 'c', type: 'api', operation: 'listRecords', params: { slug: 'absent' } },
    { id: 'd', type: 'api', operation: 'runSavedQuery', params: { id: 'absent' }, body: {} },
    { id: 'e', type: 'approval', title: 'May I?', approvers },
    { id: 'f', type: 'transform', value: '{{ steps.a.output.stauts }}' },
  ]
  const expected = ['blocked_address', ...sorts.map((sort) => `unknown_${sort}`)].sort()
  const made = await api<Data<{ id: string; problems: { code: string }[] }>>('POST', '/workflows', {
    body: { name: 'Absent', definition: { steps } },
  })
  expect(made.body.data.problems.map(({ code }) => code).sort()).toEqual(expected)
  const refused = await api<{ error: { details: { code: string }[] } }>(
    'POST',
    `/workflows/${made.body.data.id}/publish`,
    { body: {} },
  )
  expect(refused.status).toBe(422)
  expect(refused.body.error.details.map(({ code }) => code).sort()).toEqual(expected)
})
const sorts = ['secret', 'artifact', 'table', 'query', 'user', 'role', 'output']

test('a webhook receives every event of workflows', async () => {
  await api('POST', '/webhooks', {
    body: { name: 'workflows', url: `${receiver.url}/all`, events: ['workflow.*'] },
  })
  const greets = await published('Greets', { steps: [{ id: 'greet', type: 'transform', value: 'Hello' }] })
  expect(await start(greets)).toMatchObject({ status: 'completed', output: 'Hello' })
  const fails = await published('Fails', { steps: [{ id: 'no', type: 'fail', message: 'No.' }] })
  expect(await start(fails)).toMatchObject({ status: 'failed' })
  const asks = await published('Asks', {
    steps: [
      { id: 'ask', type: 'approval', title: 'May I?', approvers: { roles: ['owner'] }, reminderSeconds: 1 },
    ],
  })
  const { body } = await api<Data<Run>>('POST', `/workflows/${asks}/trigger`, { body: {} })
  await waitFor(() => deliveries().includes('workflow.run_paused'))
  await waitFor(() => deliveries().includes('workflow.approval_reminded'))
  const resumed = await api('POST', `/runs/${body.data.runId}/resume`, { body: { decision: 'approve' } })
  expect(resumed.status).toBe(200)
  await api('POST', `/workflows/${greets}/deactivate`, { body: {} })
  const expected = [
    ...['activated', 'deactivated', 'run_started', 'run_completed', 'run_failed', 'run_paused'],
    'approval_requested',
  ]
  await waitFor(() => expected.every((name) => deliveries().includes(`workflow.${name}`)))
})

test('an inbound webhook opens an incident in the name of the publisher, and its event starts another workflow', async () => {
  const reported = await published('Reported', {
    trigger: { type: 'event', events: ['incident.created'], filter: { 'data.title': 'disk full on db1' } },
    steps: [{ id: 'number', type: 'transform', value: '{{ event.data.number }}' }],
  })
  const opens = await published('Opens', {
    trigger: { type: 'webhook' },
    steps: [
      {
        id: 'incident',
        type: 'api',
        operation: 'createIncident',
        body: { title: '{{ event.body.alert }} on {{ event.body.host }}' },
      },
    ],
    output: '{{ steps.incident.output.data.number }}',
  })
  const hook = await api<Data<{ path: string }>>('GET', `/workflows/${opens}/hook`)
  const { origin } = new URL(platform.info.baseUrl)
  const answer = await fetch(`${origin}${hook.body.data.path}?wait=20`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ alert: 'disk full', host: 'db1' }),
  })
  const { data } = (await answer.json()) as Data<Run>
  expect(data).toMatchObject({ status: 'completed', output: expect.stringMatching(/^INC-\d+$/) })
  const runs = await waitFor(async () => {
    const found = await api<Data<{ status: string }[]>>('GET', `/workflows/${reported}/runs`)
    return found.body.data.length > 0 ? found.body.data : undefined
  })
  expect(runs).toHaveLength(1)
  expect((await fetch(`${origin}/hooks/hk_unknown`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${origin}/api/v1${hook.body.data.path}`, { method: 'POST' })).status).toBe(404)
})

test('promoting a workflow maps its connectors by name, and requires a key for the target environment', async () => {
  const made = async (headers: Record<string, string>, path: string, body: object) => {
    const answer = await api<Data<{ id: string; token: string }>>('POST', path, { body, headers })
    expect(answer.status).toBeLessThan(300)
    return answer.body.data
  }
  const connector = { name: 'Chat', kind: 'http', config: { baseUrl: `${receiver.url}/chat` } }
  const here = await made({}, '/connectors', connector)
  const there = await made({ 'x-environment': 'staging' }, '/connectors', connector)
  const steps = [{ id: 'tell', type: 'connector', connector: here.id, action: 'get', input: {} }]
  const id = await published('Promoted', { steps })
  interface Promoted {
    problems: object[]
    draft: { steps: { connector: string }[] }
  }
  const promoted = await api<Data<Promoted>>('POST', `/workflows/${id}/promote`, {
    body: { environment: 'staging' },
  })
  expect(promoted.status).toBe(200)
  expect(promoted.body.data).toMatchObject({ problems: [], draft: { steps: [{ connector: there.id }] } })
  const scopes = ['workflows:read', 'workflows:write', 'connectors:read', 'connectors:invoke']
  const key = await made({}, '/auth/tokens', { name: 'ci', scopes, environments: ['production'] })
  const refused = await api<{ error: { code: string } }>('POST', `/workflows/${id}/promote`, {
    ...{ body: { environment: 'staging' }, headers: { authorization: `Bearer ${key.token}` } },
  })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
})
