import { beforeAll, expect, test } from '@jest/globals'
import { listApiPaths } from './fuzz/document.js'
import { type Api, apiClient, fetchOpenApi } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Operation {
  operationId: string
  parameters?: { $ref?: string; in?: string; name?: string }[]
  security?: unknown[]
  responses: Record<string, { headers?: Record<string, unknown> }>
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
interface Described extends Operation {
  method: Method
  path: string
}

let platform: SharedPlatform
let api: Api
/** Every operation that is served. */
let operations: Described[]

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  const document = await fetchOpenApi<{ paths: Record<string, Record<Method, Operation>> }>(platform.info)
  operations = Object.entries(listApiPaths(document)).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method as Method, path })),
  )
})

const takes = ({ parameters = [] }: Operation, header: string) =>
  parameters.some(({ $ref }) => $ref === `#/components/parameters/${header}`)
const success = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => status < '300')
const hasEtag = (operation: Operation) =>
  success(operation).some(([, { headers }]) => headers && 'ETag' in headers)
const idsOf = (found: Described[]) => found.map(({ operationId }) => operationId).sort()

/**
 * Mutating operations without Idempotency-Key, with the reason. Without authentication, there is no principal to
 * bind the key to.
 */
const withoutKey: Record<string, string> = {
  addPasskey: 'a repetition finds the challenge used',
  beginPasskey: 'a repetition begins once more',
  beginStepUp: 'a repetition begins once more',
  beginTotp: 'a repetition begins once more, with another secret',
  checkPack: 'changes nothing',
  changePassword: 'a repetition learns that the password is another one',
  createAccountResetLink: 'a repetition replaces the link by another one',
  createUserResetLink: 'a repetition replaces the link by another one',
  confirmTotp: 'a repetition finds it confirmed',
  createAuditCheckpoint: 'a repetition signs the same chain once more',
  createRecoveryCodes: 'a repetition makes others, as no answer with them is kept',
  dryRunMigration: 'changes nothing',
  evaluateExpression: 'changes nothing',
  getImpact: 'changes nothing',
  previewSlaPolicy: 'changes nothing',
  proveAddress: 'a repetition finds the token used',
  redriveDeadLetter: 'a repetition hands it over once more, to one effect',
  removeAccountFactors: 'a repetition finds none to remove, and answers the same',
  renameFactor: 'a repetition changes nothing and answers the same',
  requestAddressProof: 'a repetition sends one more mail',
  runArtifactTests: 'changes nothing',
  runReport: 'changes nothing',
  searchKnowledge: 'changes nothing',
  endSsoSession: 'a repetition finds no session to end: 401',
  linkIdentity: 'a repetition begins once more',
  endSession: 'a repetition finds no session to end: 401',
  markNotificationRead: 'a repetition changes nothing and answers the same',
  stepUp: 'a repetition proves the same once more',
  verifyAuditAgainstCheckpoint: 'changes nothing',
}

/**
 * Operations that return a resource other than the one in their path, which they leave unchanged or change together
 * with others.
 */
const ofAnotherResource = [
  ...['linkProblemIncident', 'promotePack', 'promoteWorkflow', 'rollbackPack', 'takeOverPack'],
]

test('every POST, PUT and PATCH accepts an Idempotency-Key, except a few with a stated reason', () => {
  const mutating = operations.filter(
    ({ method, security }) => ['post', 'put', 'patch'].includes(method) && security?.length !== 0,
  )
  expect(mutating.length).toBeGreaterThan(15)
  expect(idsOf(mutating.filter((operation) => !takes(operation, 'IdempotencyKey')))).toEqual(
    Object.keys(withoutKey).sort(),
  )
})

test('every change of a single resource with an ETag accepts If-Match, and declares 412', () => {
  const changing = operations.filter(
    (operation) => operation.method !== 'get' && operation.path.includes('{') && hasEtag(operation),
  )
  expect(changing.length).toBeGreaterThan(8)
  expect(idsOf(changing.filter((operation) => !takes(operation, 'IfMatch')))).toEqual(ofAnotherResource)
  const promised = operations.filter((operation) => takes(operation, 'IfMatch'))
  expect(idsOf(promised.filter(({ responses }) => !('412' in responses)))).toEqual([])
})

/** Records of the service desk: their lists can be searched, filtered and paged, and all of them have a history. */
const desk = /^\/(itsm|cmdb|knowledge|catalog)\b/
const asks = ({ parameters = [] }: Operation, name: string) =>
  parameters.some((parameter) => parameter.in === 'query' && parameter.name === name)

/** Computed from many records, or defined in code, so not records themselves. */
const noRecords = ['getChangeCalendar', 'getConflictsOfChange', 'getSlotsOfChange', 'getStateMachines']

test('every list of the service desk accepts q and asOf, and every record asOf', () => {
  const reading = operations.filter(({ method, path }) => method === 'get' && desk.test(path))
  const lists = reading.filter((operation) => asks(operation, 'limit') && asks(operation, 'after'))
  expect(lists.length).toBeGreaterThan(15)
  expect(idsOf(lists.filter((operation) => !asks(operation, 'q')))).toEqual([])
  expect(idsOf(reading.filter((operation) => !asks(operation, 'asOf')))).toEqual(noRecords)
})

/** One resource of each kind, by the beginning of its path. */
async function resources(): Promise<[string, string][]> {
  const made = async (path: string, body: object) =>
    (await api<{ data: { id: string } }>('POST', path, { body })).body.data.id
  await made('/secrets', { name: 'stale', value: 'v', hosts: ['*'] })
  return [
    ['/itsm/incidents/{id}', `/itsm/incidents/${await made('/itsm/incidents', { title: 'stale' })}`],
    [
      '/webhooks/{id}',
      `/webhooks/${await made('/webhooks', { name: 'stale', url: 'https://127.0.0.1:8443/', events: ['*'] })}`,
    ],
    ['/secrets/{name}', '/secrets/stale'],
    ['/cmdb/classes/{name}', '/cmdb/classes/server'],
    [
      '/auth/tokens/{id}',
      `/auth/tokens/${await made('/auth/tokens', { name: 'stale', scopes: ['itsm:read'] })}`,
    ],
    ['/workspaces/{slug}', `/workspaces/${platform.info.workspace}`],
  ]
}

/** Bodies for the operations that need one. */
const bodies: Record<string, object> = {
  updateIncident: { title: 'newer' },
  escalateIncident: { severity: 'critical' },
  addIncidentComment: { body: 'newer', visibility: 'internal' },
  updateCiClass: { label: 'newer' },
  updateWebhook: { name: 'newer' },
  rotateSecret: { value: 'newer' },
  updateWorkspace: { name: 'newer' },
}

test('returns 412 for a stale If-Match and changes nothing, on every operation that accepts it', async () => {
  const known = await resources()
  const tried: string[] = []
  for (const operation of operations.filter((found) => takes(found, 'IfMatch'))) {
    const resource = known.find(([pattern]) => operation.path.startsWith(pattern))
    const path = resource && operation.path.replace(...resource)
    // Kinds that are not created above are covered by the tests of their routes.
    if (path === undefined || path.includes('{')) continue
    const method = operation.method.toUpperCase() as 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    const body = operation.method === 'delete' ? {} : { body: bodies[operation.operationId] ?? {} }
    const stale = await api(method, path, { ...body, headers: { 'if-match': '"987654"' } })
    expect([operation.operationId, stale.status, stale.body]).toEqual([
      operation.operationId,
      412,
      expect.objectContaining({
        error: expect.objectContaining({
          code: 'precondition_failed',
          details: [expect.objectContaining({ in: 'header', path: '/If-Match' })],
        }),
      }),
    ])
    tried.push(operation.operationId)
  }
  expect(tried).toEqual(
    expect.arrayContaining([...Object.keys(bodies), 'deleteWebhook', 'deleteSecret', 'revokeToken']),
  )
})

test('returns 304 for an ETag the client already has', async () => {
  const created = await api<{ data: { id: string } }>('POST', '/itsm/incidents', { body: { title: 'seen' } })
  const location = String(created.headers.location)
  expect(location).toBe(`/api/v1/itsm/incidents/${created.body.data.id}`)
  const path = location.replace('/api/v1', '')
  const seen = { headers: { 'if-none-match': String(created.headers.etag) } }
  expect((await api('GET', path, seen)).status).toBe(304)
  await api('PATCH', path, { body: { title: 'changed' } })
  expect((await api('GET', path, seen)).status).toBe(200)
})

test('every operation that creates a separately readable resource declares a Location header', () => {
  const creating = operations.filter(({ responses }) => '201' in responses)
  const isRead = (path: string) =>
    operations.some(
      (found) =>
        found.method === 'get' &&
        found.path.startsWith(`${path}/{`) &&
        !found.path.slice(path.length + 1).includes('/'),
    )
  const located = creating.filter(({ responses }) => 'Location' in (responses['201']?.headers ?? {}))
  // Resources created from others are read under the path of their own kind.
  const elsewhere = ['createIncidentProblem', 'createEmbedToken', 'deployApp', 'exportReport', 'rollbackApp']
  const expected = creating.filter(({ path, operationId }) => isRead(path) || elsewhere.includes(operationId))
  expect(idsOf(located)).toEqual(idsOf(expected))
  expect(idsOf(located)).toEqual(expect.arrayContaining(['createIncident', 'createWebhook']))
})
