import { expect, test } from '@jest/globals'
import { ApiFailure, isDefinite } from '../api.js'
import { perform } from './actions.js'
import { createDrafts, type PageDraft } from './drafts.js'
import { createForm, createHost, findInput } from './page.fixture.js'
import { PageStore } from './store.js'
import { buildSubmission } from './submission.js'

const text = (id: string) => ({
  ...{ type: 'text_input', id, label: id, value: `{{ data.record.rows[0].${id} }}` },
})
const action = { source: 'record', operation: 'update', version: '{{ data.record.rows[0].version }}' }
const record = { id: 'rec_1', version: 4, name: 'n', town: 't' }
const edited = async () => {
  const page = await createForm(record, { fields: [text('name'), text('town')], action })
  return { ...page, name: findInput(page.form.fields, 'name'), town: findInput(page.form.fields, 'town') }
}

async function sent({ store, form }: Pick<Awaited<ReturnType<typeof edited>>, 'store' | 'form'>) {
  const { host, seen } = createHost()
  await perform(form.action, { form: buildSubmission(store, form) }, { store, host })
  return seen.requests[0]
}

test('a form keeps the version it was edited from when its record is reloaded', async () => {
  const { store, current, form, name, town } = await edited()
  store.type(name, 'mine')
  current.record = { ...record, version: 5, name: 'theirs', town: 'their town' }
  await store.refreshNamed(form)
  expect(store.inputs.typed(name)).toBe('mine')
  expect(store.inputs.typed(town)).toBe('their town')
  expect(store.inputs.differences(form)).toMatchObject([
    { field: { id: 'name' }, before: 'n', mine: 'mine', theirs: 'theirs' },
    { field: { id: 'town' }, before: 't', mine: 'their town', theirs: 'their town' },
  ])
  expect(await sent({ store, form })).toMatchObject({ version: 4, values: { name: 'mine' } })
})

test('choosing a value in a conflict bases the form on the current version of the record', async () => {
  const { store, current, form, name, town } = await edited()
  store.type(name, 'mine')
  store.type(town, 'my town')
  current.record = { ...record, version: 5, name: 'theirs', town: 'their town' }
  await store.refreshNamed(form)
  store.rebase(form, [name])
  expect(store.inputs.typed(name)).toBe('theirs')
  expect(await sent({ store, form })).toMatchObject({ version: 5, values: { town: 'my town' } })
})

/** The part of `Storage` that is used; `full` rejects every write. */
function storageOf(full = false): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => {
      if (full) throw new Error('QuotaExceededError')
      kept.set(name, value)
    },
    removeItem: (name: string) => kept.delete(name),
  } as unknown as Storage
}

test('typed input is restored for its page and user while the tab is open', async () => {
  const storage = storageOf()
  const { store, form, name } = await edited()
  store.type(name, 'mine')
  createDrafts(storage, () => 'key').keep('page of Ada', store.inputs.draft())
  const again = createDrafts(storage, () => 'key')
  expect(again.page('page of Grace')).toBeUndefined()
  const draft = again.page('page of Ada')
  const other = new PageStore({
    ...{ page: { slug: 'page', components: [form], params: {} }, user: null, draft },
    load: async (requests) =>
      Object.fromEntries(
        requests.map(({ key }) => [
          key,
          { rows: [{ ...record, version: 9 }], value: null, nextCursor: null },
        ]),
      ),
  })
  await other.start()
  await other.refreshNamed(form)
  expect(await sent({ store: other, form })).toMatchObject({ version: 4, values: { name: 'mine' } })
  again.clear()
  expect(createDrafts(storage, () => 'key').page('page of Ada')).toBeUndefined()
})

test('another input with the same id starts empty', async () => {
  const draft: PageDraft = { typed: { name: true }, begun: {} }
  const { form } = await edited()
  const store = new PageStore({
    ...{ page: { slug: 'page', components: [form], params: {} }, user: null, draft },
    load: async () => ({}),
  })
  expect(store.inputs.typed(findInput(form.fields, 'name'))).toBe('')
})

test.each([false, true])(
  'a request keeps one idempotency key until its outcome is known (full store: %s)',
  (full) => {
    let made = 0
    const drafts = createDrafts(storageOf(full), () => `key-${++made}`)
    expect(drafts.keyOf('a')).toBe('key-1')
    expect(drafts.keyOf('b')).toBe('key-2')
    expect(drafts.keyOf('a')).toBe('key-1')
    drafts.settle('a')
    expect(drafts.keyOf('a')).toBe('key-3')
  },
)

const failure = (code: string, status: number, detail?: string) =>
  new ApiFailure(code, code, detail === undefined ? [] : [{ path: '', message: '', code: detail }], status)

test.each([
  [failure('validation_failed', 422), true],
  [failure('precondition_failed', 412), true],
  [failure('forbidden', 403), true],
  [failure('upstream_error', 502, 'not_retryable'), true],
  [failure('upstream_error', 502), false],
  [failure('unreachable', 0), false],
  [failure('token_expired', 401), false],
  [failure('idempotency_in_progress', 409), false],
  [failure('conflict', 409, 'redeployed'), false],
  [failure('rate_limited', 429), false],
  [failure('internal_error', 500), false],
  [new Error('of a script'), false],
])('%s is the final outcome of a request: %s', (error, isEnd) => {
  expect(isDefinite(error)).toBe(isEnd)
})
