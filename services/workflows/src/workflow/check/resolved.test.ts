import { describe, expect, it } from '@jest/globals'
import { invalidField, type TenantScope, WorkflowDefinition } from '@opsplane/contracts'
import { checkAddresses } from './addresses.js'
import { checkOutputs } from './outputs.js'
import { checkPlatform, type Platform } from './platform.js'

const tenant: TenantScope = { workspaceId: 'ws_1', environment: 'production' }
const connector = 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const paths: Record<string, string> = {
  listRecords: '/tables/:slug/records',
  runSavedQuery: '/queries/:id/run',
  getArtifact: '/sdk/artifacts/:id',
}
/** A platform in which only the name `known` exists. */
const platform: Platform = {
  operations: {
    find: async (id) => {
      const path = paths[id]
      return path === undefined ? undefined : { service: 'sdk', method: 'GET', path, permission: null }
    },
    isComplete: () => true,
  },
  findConnectors: async (_, { furtherActions }) => [
    { id: connector, name: 'Chat', kind: 'openapi', actions: furtherActions ? ['known'] : null },
  ],
  findKnown: async (_, __, names) => names.filter((name) => name === 'known'),
  outbound: {
    checkUrl(url) {
      if (!url.startsWith('https://known.test/'))
        throw invalidField('/url', 'blocked_address', 'Is not called.')
    },
  },
  log: { warn: () => {} },
}

/** Steps with a name, by the kind of problem if the name is unknown. */
const naming: readonly [string, string, (name: string) => object][] = [
  ['unknown_artifact', '/artifact', (artifact) => ({ type: 'artifact', artifact })],
  ['unknown_artifact', '/params/id', (id) => ({ type: 'api', operation: 'getArtifact', params: { id } })],
  ['unknown_table', '/params/slug', (slug) => ({ type: 'api', operation: 'listRecords', params: { slug } })],
  ['unknown_query', '/params/id', (id) => ({ type: 'api', operation: 'runSavedQuery', params: { id } })],
  ['unknown_user', '/approvers/users/0', (user) => ({ ...approval, approvers: { users: [user] } })],
  ['unknown_role', '/approvers/roles/0', (role) => ({ ...approval, approvers: { roles: [role] } })],
  ['unknown_action', '/action', (action) => ({ type: 'connector', connector, action })],
  ['blocked_address', '/url', (name) => ({ ...http, url: `https://${name}.test/x` })],
  ['blocked_address', '/url', (name) => ({ ...http, url: `https://${name}.test/{{ input.id }}` })],
]
const http = { type: 'http', url: 'https://known.test/' }
const approval = { type: 'approval', title: 'Go?' }

describe.each(naming)('the problem %s at %s', (code, below, step) => {
  const problems = async (name: string, around = (inner: object) => [inner]) => {
    const definition = WorkflowDefinition.parse({ steps: around({ id: 'own', ...step(name) }) })
    return (await checkPlatform(definition, tenant, platform)).map((each) => [
      each.step,
      each.path,
      each.code,
    ])
  }

  it('is reported for an unknown name, also inside a branch, and not for a known one', async () => {
    expect(await problems('known')).toEqual([])
    expect(await problems('absent')).toEqual([['own', `/steps/0${below}`, code]])
    const branch = (inner: object) => [{ id: 'b', type: 'branch', if: '{{ input }}', then: [inner] }]
    expect(await problems('absent', branch)).toEqual([['own', `/steps/0/then/0${below}`, code]])
  })
})

it('names that are computed by an expression are not checked', async () => {
  const steps = [
    { id: 'a', ...approval, approvers: { users: ['{{ input.user }}'] } },
    { id: 'b', type: 'api', operation: 'listRecords', params: { slug: '{{ input.slug }}' } },
    { id: 'c', ...http, url: '{{ input.url }}' },
    { id: 'd', ...http, url: 'https://{{ input.host }}/' },
  ]
  expect(await checkPlatform(WorkflowDefinition.parse({ steps }), tenant, platform)).toEqual([])
})

describe('references to steps', () => {
  const steps = [
    { id: 'call', ...http },
    { id: 'ok', ...approval, approvers: { roles: ['known'] } },
    { id: 'sent', type: 'publish', topic: 'orders', eventType: 'made', payload: 1 },
    { id: 'nap', type: 'wait', seconds: 1 },
    { id: 'shape', type: 'transform', value: { total: 1 } },
    { id: 'free', type: 'transform', value: '{{ input }}' },
    {
      id: 'both',
      type: 'parallel',
      branches: [{ name: 'left', steps: [{ id: 'in_left', type: 'transform', value: 1 }] }],
    },
  ]
  const definition = WorkflowDefinition.parse({ steps })
  const codes = (source: string) =>
    checkOutputs(definition, [{ step: 'x', path: ['steps', 9], sources: [source] }]).map(({ code }) => code)

  it.each([
    'steps.call.output.stauts',
    'steps.ok.output.aproved',
    '$sum([steps.sent.output.ids, 1])',
    'steps.nap.output.until',
    'steps.shape.output.sum = 1',
    'steps.both.output.right',
  ])('%s reads an unknown field of an output', (source) => expect(codes(source)).toEqual(['unknown_output']))

  it('can read only the output, the error and the status', () => {
    expect(codes('steps.free.outptu.x')).toEqual(['unknown_field'])
  })

  it.each([
    'steps.call.output.body.anything',
    'steps.call.error.code',
    'steps.ok.output.approved ? steps.shape.output.total : steps.both.output.left',
    'steps.free.output.anything',
    '"steps.call.output.stauts"',
    'item.steps.call.output.stauts',
    'steps.call.output.$string()',
    'steps.unheard.output.of',
  ])('%s is valid', (source) => expect(codes(source)).toEqual([]))
})

it('only the literal part of a URL is checked', () => {
  const checked: string[] = []
  const outbound = { checkUrl: (url: string) => void checked.push(url) }
  const urls = [
    'https://a.test/x?y=1',
    'https://b.test/{{ input }}',
    'https://{{ input }}/',
    'https://c.test{{ input }}',
  ]
  const steps = urls.map((url, at) => ({ id: `s${at}`, type: 'http', url }))
  expect(checkAddresses(WorkflowDefinition.parse({ steps }), outbound)).toEqual([])
  expect(checked).toEqual(['https://a.test/x?y=1', 'https://b.test/'])
})
