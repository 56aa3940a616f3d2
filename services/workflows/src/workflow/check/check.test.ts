import { describe, expect, it } from '@jest/globals'
import { type Permission, type TenantScope, WorkflowDefinition } from '@opsplane/contracts'
import type { z } from 'zod'
import { checkEvents } from './events.js'
import { createComputeNeeds } from './needs.js'
import { checkPlatform } from './platform.js'
import { checkSecrets, findSecretTargets, literalHost } from './secrets.js'
import { checkStructure, maxStepDepth } from './structure.js'
import { templateFields } from './templates.js'
import { checkReferences } from './visible.js'

type Given = z.input<typeof WorkflowDefinition>
type Steps = readonly object[]
const definition = (steps: readonly object[], more: Partial<Given> = {}) =>
  WorkflowDefinition.parse({ steps, ...more })
const codes = (steps: Steps, more: Partial<Given> = {}) =>
  checkStructure(definition(steps, more)).map(({ path, code }) => [path, code])

const value = (id: string, text: unknown = 1) => ({ id, type: 'transform', value: text }) as const
const stop = { id: 'stop', type: 'stop' } as const
const nested = (depth: number): object =>
  depth === 1
    ? value('leaf')
    : { id: `each_${depth}`, type: 'for_each', items: '{{ input }}', steps: [nested(depth - 1)] }

describe('the structure of a definition', () => {
  it('is limited in depth, number of steps and size', () => {
    expect(codes([nested(maxStepDepth)])).toEqual([])
    expect(codes([nested(maxStepDepth + 1)]).map(([, code]) => code)).toEqual(['too_deep'])
    const many = Array.from({ length: 101 }, (_, at) => value(`s${at}`))
    const both = [
      { id: 'p', type: 'parallel', branches: [{ name: 'a', steps: many }] },
      ...many.slice(0, 100).map((each) => ({ ...each, id: `${each.id}x` })),
    ]
    expect(codes(both)).toContainEqual(['/steps', 'too_many_steps'])
    expect(codes([value('a', 'x'.repeat(256 * 1024))])).toContainEqual(['', 'too_large'])
  })

  it('has no unreachable step', () => {
    const ends = {
      id: 'b',
      type: 'branch',
      if: '{{ input }}',
      then: [stop],
      else: [{ ...stop, id: 's2' }],
    } as const
    expect(codes([stop, value('a')])).toEqual([['/steps/1', 'unreachable_step']])
    expect(codes([ends, value('a')])).toEqual([['/steps/1', 'unreachable_step']])
    expect(codes([{ ...ends, else: [value('c')] }, value('a')])).toEqual([])
    expect(codes([{ id: 'f', type: 'fail', message: 'no', continueOnError: true }, value('a')])).toEqual([])
  })

  it('has exactly one kind of wait, and enough approvers for the quorum', () => {
    expect(codes([{ id: 'w', type: 'wait' }])).toEqual([['/steps/0', 'one_way_to_wait']])
    expect(codes([{ id: 'w', type: 'wait', seconds: 1, until: '{{ input }}' }])).toHaveLength(1)
    const approval = { id: 'a', type: 'approval', title: 'Really?' } as const
    expect(codes([{ ...approval, approvers: {} }])).toEqual([['/steps/0/approvers', 'no_approvers']])
    expect(codes([{ ...approval, approvers: { users: ['u1'] }, quorum: 2 }])).toEqual([
      ['/steps/0/quorum', 'quorum_out_of_reach'],
    ])
    expect(codes([{ ...approval, approvers: { users: ['{{ input }}'] }, quorum: 2 }])).toEqual([])
  })
})

describe('references', () => {
  /** Problems of these steps if every template reads the same reference. */
  const found = (steps: Steps, reference: string, more: Partial<Given> = {}) => {
    const parsed = definition(steps, more)
    const reads = templateFields(parsed).map(({ step, path }) => ({ step, path, references: [reference] }))
    return checkReferences(parsed, reads).map(({ step, code }) => `${step} ${code}`)
  }

  it('can use steps that ran before, in the same branch or around it', () => {
    const branch = { id: 'b', type: 'branch', if: '{{ input }}', then: [value('in')] } as const
    expect(found([value('a'), branch, value('z')], 'steps.a')).toEqual(['a step_not_run_before'])
    expect(found([branch, value('z')], 'steps.in')).toEqual([
      'b step_not_run_before',
      'in step_not_run_before',
    ])
    expect(found([value('a')], 'steps.gone')).toEqual(['a unknown_step'])
  })

  it('cannot use steps of parallel branches, or steps inside a for_each from outside', () => {
    const branches = [
      { name: 'l', steps: [value('left')] },
      { name: 'r', steps: [value('right')] },
    ]
    expect(found([{ id: 'p', type: 'parallel', branches }, value('z')], 'steps.left')).toEqual([
      'left step_not_run_before',
      'right step_not_run_before',
    ])
    const each = {
      id: 'e',
      type: 'for_each',
      items: '{{ input }}',
      steps: [value('one'), value('two')],
    } as const
    expect(found([each, value('z')], 'steps.one')).toEqual([
      'e step_not_run_before',
      'one step_not_run_before',
      'z step_not_run_before',
    ])
  })

  it('can use item, failure and other names only where they are defined', () => {
    const each = { id: 'e', type: 'for_each', items: '{{ input }}', steps: [value('one')] } as const
    expect(found([each, value('z')], 'item')).toEqual(['e unknown_name', 'z unknown_name'])
    expect(found([value('a')], 'failure', { onFailure: [value('f')] })).toEqual(['a unknown_name'])
    expect(found([value('a')], 'envelope')).toEqual(['a unknown_name'])
    const concurrency = { key: '{{ input.id }}', limit: 1 }
    expect(found([value('a')], 'run', { concurrency })).toEqual(['null unknown_name'])
    expect(found([value('a')], 'input', { concurrency, output: '{{ input }}' })).toEqual([])
  })
})

const tenant: TenantScope = { workspaceId: 'ws_1', environment: 'production' }

describe('a check against the platform', () => {
  const path = '/itsm/incidents/:id/comments/:commentId'
  const steps = [
    { id: 'a', type: 'api', operation: 'known', params: { id: '{{ input }}' } },
    { id: 'b', type: 'api', operation: 'unknown' },
    { id: 'c', type: 'connector', connector: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', action: 'send' },
  ]
  const found = async (isAnswering: boolean) => {
    const warned: string[] = []
    const problems = await checkPlatform(definition(steps), tenant, {
      operations: {
        find: async (id) =>
          id === 'known' ? { service: 'itsm', method: 'GET', path, permission: null } : undefined,
        isComplete: () => isAnswering,
      },
      findConnectors: async () => {
        if (!isAnswering) throw new Error('away')
        return []
      },
      findKnown: async (_, __, names) => names,
      outbound: { checkUrl: () => {} },
      log: { warn: (_: unknown, text?: string) => void warned.push(String(text)) },
    })
    return { warned, problems: problems.map((each) => [each.path, each.code]) }
  }

  it('finds unknown operations, missing path parameters and unknown connectors', async () => {
    expect((await found(true)).problems).toEqual([
      ['/steps/0/params', 'missing_param'],
      ['/steps/1/operation', 'unknown_operation'],
      ['/steps/2/connector', 'unknown_connector'],
    ])
  })

  it('reports no unknown names while services are unavailable, and logs a warning', async () => {
    const { problems, warned } = await found(false)
    expect(problems).toEqual([['/steps/0/params', 'missing_param']])
    expect(warned).toHaveLength(2)
  })
})

const needsOf = createComputeNeeds({
  findArtifacts: async (_, names) => names.map((name) => ({ name, permissions: ['cmdb:read'] })),
  permissionOf: async (id) => ({ getIncident: 'itsm:read', me: null })[id] as Permission | null | undefined,
  findConnectors: async (_, { ids = [] }) =>
    ids.map((id) => ({ id, name: id, kind: id === bus ? 'topic' : 'slack' })),
})
const [chat, bus] = ['con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0G']

it.each<[object, Permission[]]>([
  [{ type: 'http', url: 'https://example.com' }, []],
  [{ type: 'api', operation: 'getIncident' }, ['itsm:read']],
  [{ type: 'api', operation: 'me' }, []],
  [{ type: 'connector', connector: chat, action: 'send' }, ['connectors:invoke']],
  [{ type: 'connector', connector: bus, action: 'publish' }, ['topics:write', 'connectors:invoke']],
  [{ type: 'artifact', artifact: 'enrich' }, ['cmdb:read', 'sdk:invoke']],
  [{ type: 'publish', topic: 'orders', eventType: 'made', payload: 1 }, ['topics:write']],
  [{ type: 'workflow', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }, ['workflows:run']],
])('a step requires its permissions of the workflow owner, wherever it is placed: %j', async (step, uses) => {
  const own = { id: 'own', ...step }
  const branch = { id: 'b', type: 'branch', if: '{{ input }}', then: [value('a')], else: [own] }
  for (const given of [
    definition([own]),
    definition([branch]),
    definition([value('a')], { onFailure: [own as never] }),
  ])
    expect((await needsOf(given, tenant)).uses).toEqual(uses)
  const more = await needsOf(definition([own], { permissions: ['queries:write'] }), tenant)
  expect(new Set(more.uses)).toEqual(new Set([...uses, 'queries:write']))
})

it('rejects unknown events, and requires the permissions to read events and to use secrets', async () => {
  const listens = definition([value('a', '{{secrets.key}}')], {
    trigger: { type: 'event', events: ['incident.*', 'dog.barked', '*'] },
  })
  expect(checkEvents(listens).map(({ path }) => path)).toEqual(['/trigger/events/1'])
  const needs = await needsOf(listens, tenant)
  expect(new Set(needs.reads)).toEqual(new Set(['itsm:read', 'audit:read']))
  expect(needs.uses).toEqual(['secrets:use'])
})

describe('secrets', () => {
  const text = 'x {{secrets.key}}'
  /** One step of each type, with the reference in every template field. */
  const everywhere: readonly object[] = [
    {
      id: 'http',
      type: 'http',
      method: 'POST',
      url: 'https://a.example.com/{{secrets.key}}',
      headers: { k: text },
      query: { k: text },
      body: text,
    },
    { id: 'api', type: 'api', operation: 'x', params: { k: text }, query: { k: text }, body: text },
    {
      id: 'connector',
      type: 'connector',
      connector: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      action: 'a',
      input: { k: text },
    },
    { id: 'artifact', type: 'artifact', artifact: 'some-artifact', input: { k: text } },
    { id: 'publish', type: 'publish', topic: 't', eventType: text, payload: text, deduplicationKey: text },
    value('transform', text),
  ]

  it('are found in every field of a definition that names them', () => {
    const found = findSecretTargets(
      definition(everywhere, {
        trigger: { type: 'webhook', signature: { secret: 'signing' } },
        output: text,
      } as Partial<Given>),
    )
    const fields = templateFields(definition(everywhere, { output: text }))
    const named = fields.filter((field) => JSON.stringify(field.value).includes('secrets.key'))
    expect(named.length).toBeGreaterThan(12)
    expect(found.filter(({ name }) => name === 'key').map(({ path }) => path)).toEqual(
      named.map(({ path }) => path),
    )
    expect(found[0]).toMatchObject({
      name: 'signing',
      hosts: ['hooks'],
      path: ['trigger', 'signature', 'secret'],
    })
    for (const { step, hosts } of found.slice(1))
      expect([step, hosts]).toEqual([step, step === 'http' ? ['a.example.com'] : []])
  })

  it.each([
    ['https://a.example.com', 'a.example.com'],
    ['https://a.example.com:8443/x?y={{ input.z }}', 'a.example.com'],
    ['https://A.example.com/{{ input }}', 'a.example.com'],
    ['https://a.example.com?{{ input }}', 'a.example.com'],
    ['https://a.example.com/{{secrets.key}}', 'a.example.com'],
    ['https://a.example.com{{ input }}', undefined],
    ['https://a.example.com:{{ input.port }}/', undefined],
    ['https://{{ input.host }}/', undefined],
    ['https://{{ input.user }}@a.example.com/', undefined],
    ['https:a.example.com{{ input }}/', undefined],
    ['{{ input }}', undefined],
    ['nothing', undefined],
  ])('in the URL %s are sent to the literal host %s', (url, host) => {
    expect(literalHost(url)).toBe(host)
  })

  it('are not checked while the settings service is unavailable', async () => {
    const warned: unknown[] = []
    const away = { check: () => Promise.reject(new Error('away')) }
    const log = { warn: (_: unknown, said?: string) => void warned.push(said) }
    const meta = { tenant: { workspaceId: 'ws_1', environment: 'production' as const }, clientToken: 't' }
    expect(await checkSecrets(definition(everywhere), meta, { secretTargets: away, log })).toEqual([])
    expect(warned).toHaveLength(1)
  })
})
