import { describe, expect, test } from '@jest/globals'
import type { AppAction } from '@opsplane/contracts'
import { ExpressionError } from '../expression/evaluate.js'
import { FollowUpError, perform } from './actions.js'
import { expressionFailed } from './data-cache.js'
import { createHost, createStore, findInput, rowsShown } from './page.fixture.js'
import { buildSubmission, findProblems } from './submission.js'

/** Possible outcomes of an expression. */
const expressions = {
  throws: '{{ $number("no number") }}',
  undefined: '{{ page.params.absent }}',
  value: '{{ "laptop" }}',
} as const
type Kind = keyof typeof expressions

const table = (params: object, more: object = {}) => ({
  ...{ type: 'table', label: 'Assets', source: 'assets', columns: [{ field: 'a' }], params },
  ...more,
})
const input = (value: string) => ({ type: 'text_input', id: 'kind', label: 'Kind', value })
const select = (params: object) => ({
  ...{ type: 'select', id: 'one', label: 'One' },
  options: { source: 'assets', value: 'a', label: 'b', params },
})

type Asked = Record<string, unknown> | 'nothing' | 'failed'
interface Place {
  components(template: string): unknown[]
  /** The requested parameters; `failed`: no request is sent and the error is shown in place of the data. */
  asked: Record<Kind, Asked>
}
const asParameter: Place['asked'] = { throws: 'failed', undefined: {}, value: { kind: 'laptop' } }

/** Every place of a page that determines which data is read. */
const reads: Record<string, Place> = {
  'a parameter': { components: (kind) => [table({ kind })], asked: asParameter },
  'one of several parameters': {
    components: (kind) => [table({ kind, town: 'Ulm' })],
    asked: { throws: 'failed', undefined: { town: 'Ulm' }, value: { kind: 'laptop', town: 'Ulm' } },
  },
  'a part of a parameter': {
    components: (kind) => [table({ kind: `my ${kind}` })],
    asked: { throws: 'failed', undefined: { kind: 'my ' }, value: { kind: 'my laptop' } },
  },
  'a parameter of options': { components: (kind) => [select({ kind })], asked: asParameter },
  'the value of an input that a parameter is': {
    components: (value) => [input(value), table({ kind: '{{ inputs.kind }}' })],
    asked: asParameter,
  },
  'the value of an input that the value of another is': {
    components: (value) => [
      { ...input('{{ inputs.first }}'), id: 'kind' },
      { ...input(value), id: 'first' },
      table({ kind: '{{ inputs.kind }}' }),
    ],
    asked: asParameter,
  },
  visible: {
    components: (visible) => [table({}, { visible })],
    asked: { throws: 'failed', undefined: 'nothing', value: {} },
  },
  'visible of what it stands in': {
    components: (visible) => [{ type: 'container', visible, children: [table({})] }],
    asked: { throws: 'failed', undefined: 'nothing', value: {} },
  },
}

const kinds = Object.keys(expressions) as Kind[]
const readCases = Object.entries(reads).flatMap(([name, place]) =>
  kinds.map((kind) => ({ name, place, kind })),
)

test.each(readCases)('requests data by an expression in $name: $kind', async ({ place, kind }) => {
  const requests: unknown[] = []
  const { store } = createStore(place.components(expressions[kind]), {
    load: async (all) => {
      requests.push(...all.map(({ params }) => params))
      return Object.fromEntries(all.map(({ key }) => [key, rowsShown([])]))
    },
  })
  await store.start()
  const expected = place.asked[kind]
  expect(requests).toEqual(typeof expected === 'string' ? [] : [expected])
  const shown = (store.scope.data as Record<string, { error: unknown } | undefined>).assets
  if (expected === 'failed') expect(shown?.error).toMatchObject({ code: expressionFailed })
  else expect(shown?.error ?? null).toBeNull()
})

test('requests nothing for a parameter that depends on failed data', async () => {
  const requests: string[] = []
  const { store } = createStore(
    [table({}, { id: 'first' }), { ...table({ kind: '{{ data.first.rows[0].kind }}' }), source: 'others' }],
    {
      load: async (all) => {
        requests.push(...all.map(({ source }) => source))
        return Object.fromEntries(
          all.map(({ key }) => [key, { error: { code: 'forbidden', message: 'No.' } }]),
        )
      },
    },
  )
  await store.start()
  await store.refreshNamed('{{ data.first }}')
  expect(new Set(requests)).toEqual(new Set(['assets']))
})

test('an input whose initial value fails blocks its form until the user fills it in', async () => {
  const fields = [input(expressions.throws)]
  const { store, components } = createStore([{ type: 'form', id: 'form', label: 'Form', fields, action: {} }])
  await store.start()
  const [form] = components
  if (form?.type !== 'form') throw new Error('no form')
  expect(store.inputs.failure(findInput(form.fields, 'kind'))).toMatch('Unable to cast')
  expect(await findProblems(store, form)).toEqual({
    kind: 'Fill this in: its initial value is not available.',
  })
  store.type(findInput(form.fields, 'kind'), 'phone')
  expect(await findProblems(store, form)).toEqual({ kind: undefined })
})

interface ActionPlace {
  action(template: string): object
  /** The sent request; `refused`: nothing is sent; `done`: the request is sent, and the follow-up reports a failure. */
  sent: Record<Kind, object | 'refused' | 'done'>
}
const call = { source: 'assets', operation: 'update', id: 'rec_1', values: {} } as const
const sentCall = { source: 'assets', operation: 'update', id: 'rec_1', params: {}, values: {} }

/** Every place in an action where an expression may occur. */
const actions: Record<string, ActionPlace> = {
  confirm: {
    action: (confirm) => ({ ...call, confirm }),
    sent: { throws: 'refused', undefined: 'refused', value: sentCall },
  },
  params: {
    action: (kind) => ({ ...call, params: { kind } }),
    sent: { throws: 'refused', undefined: sentCall, value: { ...sentCall, params: { kind: 'laptop' } } },
  },
  id: {
    action: (id) => ({ ...call, id }),
    sent: { throws: 'refused', undefined: 'refused', value: { ...sentCall, id: 'laptop' } },
  },
  values: {
    action: (kind) => ({ ...call, values: { kind } }),
    sent: {
      throws: 'refused',
      undefined: { ...sentCall, values: { kind: null } },
      value: { ...sentCall, values: { kind: 'laptop' } },
    },
  },
  version: {
    action: (version) => ({ ...call, version }),
    sent: { throws: 'refused', undefined: 'refused', value: 'refused' },
  },
  'then.message': {
    action: (message) => ({ ...call, then: { message } }),
    sent: { throws: 'done', undefined: sentCall, value: sentCall },
  },
  'then.set': {
    action: (kind) => ({ ...call, then: { set: { other: kind } } }),
    sent: { throws: 'done', undefined: sentCall, value: sentCall },
  },
  'then.pageParams': {
    action: (kind) => ({ ...call, then: { page: 'other', pageParams: { kind } } }),
    sent: { throws: 'done', undefined: sentCall, value: sentCall },
  },
}
const actionCases = Object.entries(actions).flatMap(([name, place]) =>
  kinds.map((kind) => ({ name, place, kind })),
)

describe('an expression of an action', () => {
  test.each(actionCases)('in $name: $kind', async ({ place, kind }) => {
    const field = input('laptop')
    const { store, components } = createStore([
      { type: 'form', id: 'form', label: 'Form', fields: [field], action: place.action(expressions[kind]) },
      { ...field, id: 'other' },
    ])
    await store.start()
    const [form] = components
    if (form?.type !== 'form') throw new Error('no form')
    const typed = findInput(form.fields, 'kind')
    store.type(typed, 'typed')
    const { host, seen } = createHost()
    const done = perform(form.action as AppAction, { form: buildSubmission(store, form) }, { store, host })
    const expected = place.sent[kind]
    if (expected === 'refused') await expect(done).rejects.toThrow(ExpressionError)
    else if (expected === 'done') await expect(done).rejects.toThrow(FollowUpError)
    else expect(await done).toBe(true)
    expect(seen.requests).toEqual(expected === 'refused' ? [] : [expected === 'done' ? sentCall : expected])
    // Submitted values are removed from the form, so that they are not sent twice.
    expect(store.inputs.isChanged(typed)).toBe(expected === 'refused')
  })
})
