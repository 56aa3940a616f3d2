import { expect, test } from '@jest/globals'
import type { Component, InputComponent } from '@opsplane/contracts'
import { createStore, rowsShown } from './page.fixture.js'
import type { PageStore } from './store.js'

const table = (source: string, params: object = {}) => ({
  ...{ type: 'table', label: source, source, params, columns: [{ field: 'a' }] },
})
const rowsOf = (store: PageStore, component: Component | undefined) =>
  component?.type === 'table' ? store.loaded(component.source, component.params) : undefined

test('requests all data of a page in one request, without duplicates', async () => {
  const { store, asked, until, components } = createStore([
    table('one'),
    table('one'),
    table('two', { kind: '{{ inputs.kind }}' }),
    { type: 'text', value: '{{ data.three.value }}' },
    { type: 'text_input', id: 'kind', label: 'Kind', value: 'laptop' },
  ])
  await store.start()
  expect(asked[0]?.requests.map(({ source, params }) => [source, params])).toEqual([
    ['one', {}],
    ['two', { kind: 'laptop' }],
    ['three', {}],
  ])
  asked[0]?.answer()
  await until(() => rowsOf(store, components[0])?.isLoading === false)
  expect(rowsOf(store, components[1])?.rows).toMatchObject([{ source: 'one' }])
  expect(asked).toHaveLength(1)
})

test('shows a response only for the parameters it was requested with, in any order of arrival', async () => {
  const { store, asked, until, components } = createStore([
    table('one', { kind: '{{ inputs.kind }}' }),
    { type: 'text_input', id: 'kind', label: 'Kind', value: 'a' },
  ])
  await store.start()
  store.set({ kind: 'b' })
  await until(() => rowsOf(store, components[0]) !== undefined && asked.length === 2)
  asked[1]?.answer()
  await until(() => rowsOf(store, components[0])?.isLoading === false)
  asked[0]?.answer()
  await asked[0]
  expect(rowsOf(store, components[0])?.rows).toMatchObject([{ params: { kind: 'b' } }])
})

test('shows the error of a failed part of a request only in that part', async () => {
  const { store, asked, until, components } = createStore([table('one'), table('two')])
  await store.start()
  asked[0]?.answer({
    0: rowsShown([]),
    1: { error: { code: 'upstream_error', message: 'It failed.' } },
  })
  await until(() => rowsOf(store, components[1])?.isLoading === false)
  expect(rowsOf(store, components[0])?.error).toBeNull()
  expect(rowsOf(store, components[1])?.error).toMatchObject({ message: 'It failed.' })
})

test('updates an input from its expression until the user types, and again after a reset', async () => {
  const { store, asked, until, components } = createStore([
    table('one'),
    { type: 'text_input', id: 'name', label: 'Name', value: '{{ data.one.rows[0].source }}' },
  ])
  const input = components[1] as InputComponent
  await store.start()
  expect(store.inputs.typed(input)).toBe('')
  asked[0]?.answer()
  await until(() => store.inputs.typed(input) === 'one')
  store.type(input, 'mine')
  expect(store.inputs.value(input)).toBe('mine')
  store.reset([input])
  expect(store.inputs.value(input)).toBe('one')
})

test('loads nothing for hidden components', async () => {
  const { store, asked } = createStore([{ ...table('one'), visible: '{{ page.params.id }}' }, table('two')])
  await store.start()
  expect(asked.map(({ requests }) => requests.map(({ source }) => source))).toEqual([['two']])
})
