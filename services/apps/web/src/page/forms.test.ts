import { describe, expect, test } from '@jest/globals'
import type { InputComponent, ResultType } from '@opsplane/contracts'
import { type ActionContext, perform } from './actions.js'
import { createForm, createHost } from './page.fixture.js'
import { buildSubmission, findProblems } from './submission.js'

type ColumnType =
  | ResultType
  | 'timestamp'
  | 'enum'
  | 'reference'
  | 'timestamp without zone'
  | 'double'
  | 'empty'

/** Each column type with each input suitable for it: the record's value, the typed text, and the value to be saved. */
const cases: [ColumnType, InputComponent['type'], unknown, string | boolean, unknown][] = [
  ['text', 'text_input', ' Ada ', 'Grace', 'Grace'],
  ['text', 'text_area', '', 'Grace', 'Grace'],
  ['integer', 'number_input', 7, '8', 8],
  ['integer', 'text_input', 7, '8', 8],
  ['integer', 'select', 7, '8', 8],
  ['bigint', 'number_input', '9007199254740993', '9007199254740995', '9007199254740995'],
  ['bigint', 'text_input', '9007199254740993', '9007199254740995', '9007199254740995'],
  ['decimal', 'number_input', '12345678901234567890.0123456789', '0.0000000001', 0.0000000001],
  [
    'decimal',
    'number_input',
    '12.5000',
    '12345678901234567890.0123456789',
    '12345678901234567890.0123456789',
  ],
  ['double', 'number_input', 1e21, '0.1', 0.1],
  ['boolean', 'checkbox', null, true, true],
  ['boolean', 'checkbox', true, false, false],
  ['boolean', 'select', true, 'false', false],
  ['date', 'date_input', '2026-03-04', '2026-03-05', '2026-03-05'],
  ['timestamp', 'date_input', '2026-03-04T10:11:12.345Z', '2026-03-05', '2026-03-05T10:11:12.345Z'],
  [
    'timestamp',
    'datetime_input',
    '2026-03-04T10:11:12.345Z',
    '2026-03-04T10:11:13.345',
    '2026-03-04T10:11:13.345Z',
  ],
  [
    'timestamp',
    'datetime_input',
    '2026-03-04T10:11:12.345678Z',
    '2026-03-04T10:12',
    '2026-03-04T10:12:00.000Z',
  ],
  [
    'timestamp without zone',
    'datetime_input',
    '2026-03-04T10:11:12',
    '2026-03-04T10:12',
    '2026-03-04T10:12:00',
  ],
  ['timestamp without zone', 'date_input', '2026-03-04T10:11:12', '2026-03-05', '2026-03-05T10:11:12'],
  ['json', 'text_area', { a: [1, 'x'] }, '{"a":[2]}', { a: [2] }],
  ['json', 'text_area', ['1234567890123456.7891'], '[]', []],
  [
    'uuid',
    'text_input',
    '0198f0a0-0000-7000-8000-000000000000',
    '0198f0a0-0000-7000-8000-000000000001',
    '0198f0a0-0000-7000-8000-000000000001',
  ],
  ['enum', 'select', 'gone', 'new', 'new'],
  ['enum', 'radio', 'gone', 'new', 'new'],
  ['reference', 'select', 'rec_1', 'rec_2', 'rec_2'],
  ['empty', 'text_input', null, 'x', 'x'],
  ['empty', 'number_input', null, '1.50', 1.5],
  ['empty', 'datetime_input', null, '2026-03-04T10:00', '2026-03-04T10:00:00.000Z'],
]

const options = [
  { value: '8', label: 'Eight' },
  { value: 'new', label: 'New' },
]
const update = { source: 'record', operation: 'update', id: '{{ data.record.rows[0].id }}' }

async function formFor(type: InputComponent['type'], value: unknown, action: object = update) {
  const choice = type === 'select' || type === 'radio'
  const field = {
    ...{ type, id: 'field', label: 'Field', value: '{{ data.record.rows[0].field }}' },
    ...(choice && { options }),
  }
  const other = { type: 'text_input', id: 'other', label: 'Other', value: '{{ data.record.rows[0].other }}' }
  const page = await createForm(
    { id: 'rec_1', version: 4, field: value, other: 'o' },
    { fields: [field, other], action },
  )
  const [input, second] = page.form.fields
  if (!input || !second) throw new Error('no fields')
  return { ...page, input, second }
}

async function sent({ store, form }: Awaited<ReturnType<typeof formFor>>) {
  expect(Object.values(await findProblems(store, form)).filter(Boolean)).toEqual([])
  const { host, seen } = createHost()
  const context: ActionContext = { form: buildSubmission(store, form) }
  await perform(form.action, context, { store, host })
  return seen.requests[0]
}

describe.each(cases)('a %s value in a %s', (_column, type, value, typed, saved) => {
  test('is not sent when it is untouched', async () => {
    const page = await formFor(type, value)
    page.store.type(page.second, 'p')
    expect((await sent(page))?.values).toEqual({ other: 'p' })
  })

  test('is sent as typed', async () => {
    const page = await formFor(type, value)
    page.store.type(page.input, typed)
    expect((await sent(page))?.values).toEqual({ field: saved })
  })

  test('is not sent when it is changed back to its original value', async () => {
    const page = await formFor(type, value)
    const before = page.store.inputs.typed(page.input)
    page.store.type(page.input, typed)
    page.store.type(page.input, before)
    expect(page.store.inputs.hasUnsaved()).toBe(false)
    page.store.type(page.second, 'p')
    expect((await sent(page))?.values).toEqual({ other: 'p' })
  })

  test('is sent as null (or false) when it is cleared', async () => {
    const page = await formFor(type, value)
    const cleared = type === 'checkbox' ? false : ''
    const isChange = page.store.inputs.typed(page.input) !== cleared
    page.store.type(page.input, cleared)
    if (!isChange) page.store.type(page.second, 'p')
    const nothing = type === 'checkbox' ? false : null
    expect((await sent(page))?.values).toEqual(isChange ? { field: nothing } : { other: 'p' })
  })

  test('is omitted from an expression that refers only to it, unless it was changed', async () => {
    const values = { field: '{{ form.field }}', other: '{{ form.other }}', note: 'Seen' }
    const page = await formFor(type, value, { ...update, values })
    page.store.type(page.second, 'p')
    expect((await sent(page))?.values).toEqual({ other: 'p', note: 'Seen' })
    page.store.type(page.input, typed)
    expect((await sent(page))?.values).toEqual({ field: saved, note: 'Seen' })
  })
})
