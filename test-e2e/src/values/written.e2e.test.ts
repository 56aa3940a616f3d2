import { beforeAll, describe, expect, test } from '@jest/globals'
import { ExactNumber, exactNumbersAsText, parseExact, stringifyExact } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import type { ValueCase } from './case.js'
import { cases, sameValue } from './cases.js'
import { columns, findType } from './columns.js'
import { type ExactClient, joinWithExactClient } from './exact-client.js'
import { buildInsert, buildRows, type Row } from './rows.js'

let at: ExactClient
const api: ExactClient['api'] = (...call) => at.api(...call)
const made: ExactClient['made'] = (...call) => at.made(...call)
const records = '/tables/values/records'

beforeAll(async () => {
  at = await joinWithExactClient()
  await at.makeTables()
})

/** Sends rows; if one is rejected, no record has its tag. Returns the responses by tag. */
type Write = (rows: readonly Row[]) => Promise<ReadonlyMap<unknown, unknown>>
interface Door {
  write: Write
  /** Value returned instead of that in the case; `undefined` if it is the same. */
  instead?(given: ValueCase): string | null | undefined
}

/** As many concurrent requests as the limits of a workspace allow. */
const atOnce = 4
const oneByOne =
  (work: (row: Row) => Promise<unknown>): Write =>
  async (rows) => {
    const answers = new Map<unknown, unknown>()
    const rest = [...rows]
    const worker = async () => {
      for (let row = rest.shift(); row; row = rest.shift()) answers.set(row.tag, await work(row))
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return answers
  }
const together =
  (work: (rows: readonly Row[]) => Promise<unknown>): Write =>
  async (rows) => {
    const answer = await work(rows)
    return new Map(rows.map(({ tag }) => [tag, answer]))
  }

/** Expected value where numbers that do not fit a double arrive as strings. */
function asText({ column, sent, back }: ValueCase): string | undefined {
  const value = parseExact(sent)
  if (['text', 'enum'].includes(findType(column)))
    return value instanceof ExactNumber ? stringifyExact(value.text) : undefined
  return findType(column) === 'json' && back !== null
    ? stringifyExact(exactNumbersAsText(parseExact(back)))
    : undefined
}

const imported = async (body: string, format: 'csv' | 'ndjson') => {
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const { json, text } = await api<{ id: string }>('POST', `${records}/import?format=${format}`, body, type)
  if (!json?.data) throw new Error(text)
  return waitFor(
    async () => {
      const path = `/tables/values/imports/${json.data.id}`
      const { data } = (await api<{ finishedAt: unknown }>('GET', path)).json
      return data.finishedAt !== null && { text: stringifyExact(data) }
    },
    { message: `the import of ${format}` },
  )
}
/** All columns of all rows; a missing value is an empty cell. */
function csvOf(rows: readonly Row[]): string {
  const names = columns.map(({ name }) => name).filter((name) => rows.some((row) => name in row))
  const lines = rows.map((row) => names.map((name) => (name in row ? cellOf(name, row[name]) : '')))
  return [names, ...lines].map((cells) => `${cells}\n`).join('')
}
const cellOf = (name: string, value: unknown) => {
  const isText = typeof value === 'string' && !['json', 'array'].includes(findType(name))
  const text = isText ? value : stringifyExact(value)
  return `"${text.replaceAll('"', '""')}"`
}
const doors: Record<string, Door> = {
  record: { write: oneByOne((row) => api('POST', records, row)) },
  'a change of a record': {
    write: oneByOne(async ({ tag, ...row }) => {
      const { id } = await made(records, { tag: `empty ${tag}` })
      return api('PATCH', `${records}/${id}`, { tag, ...row })
    }),
  },
  bulk: { write: oneByOne((row) => api('POST', `${records}/bulk`, { records: [row] })) },
  upsert: { write: oneByOne((row) => api('PUT', `${records}/bulk`, { on: ['tag'], records: [row] })) },
  'a change by a filter': {
    write: oneByOne(async ({ tag, ...row }) => {
      await made(records, { tag: `empty ${tag}` })
      return api('PATCH', `${records}/bulk`, { filter: { tag: `empty ${tag}` }, set: { tag, ...row } })
    }),
  },
  batch: {
    write: oneByOne((data) =>
      api('POST', '/tables/batch', { operations: [{ op: 'create', table: 'values', data }] }),
    ),
  },
  'an import of ndjson': {
    write: together((rows) => imported(rows.map((row) => `${stringifyExact(row)}\n`).join(''), 'ndjson')),
  },
  'an import of CSV': {
    write: together((rows) => imported(csvOf(rows), 'csv')),
    instead: ({ csv }) => csv,
  },
  'parameters of SQL': {
    write: oneByOne((row) => {
      const { sql, types } = buildInsert(row)
      return api('POST', '/queries/run', { sql, types, parameters: row, mode: 'write' })
    }),
    instead: ({ sql }) => sql,
  },
  'parameters of a saved query': {
    write: oneByOne(async (row) => {
      const { sql, names, types } = buildInsert(row)
      const parameters = names.map((name) => ({ name, type: types[name] }))
      const { id } = await made('/queries', { name: `Insert ${row.tag}`, sql, parameters, mode: 'write' })
      return api('POST', `/queries/${id}/run`, { parameters: row })
    }),
    instead: ({ sql }) => sql,
  },
  'the input of a workflow': {
    write: oneByOne((row) => api('POST', `/workflows/${workflow}/trigger?wait=20`, { input: { row } })),
    instead: asText,
  },
  'the input of an artifact': {
    write: oneByOne((row) => api('POST', '/sdk/artifacts/keep-row/invoke', { input: { row } })),
    instead: asText,
  },
  'a form of an app': {
    write: oneByOne((values) => {
      return api('POST', at.appPath('actions'), { source: 'values', operation: 'create', values })
    }),
  },
}

let workflow: string
beforeAll(async () => {
  const step = {
    ...{ id: 'keep', type: 'api', operation: 'createRecord', params: { slug: 'values' } },
    body: '{{ input.row }}',
  }
  workflow = (await made('/workflows', { name: 'Keeps', definition: { steps: [step] } })).id
  await made(`/workflows/${workflow}/publish`, { activate: true })
  const artifact = {
    ...{ slug: 'keep-row', kind: 'workflow_action', source: 'keep.ts' },
    permissions: { api: ['createRecord'] },
  }
  const source = `import { artifact } from '@opsplane/sdk'
    export default artifact(async ({ row }: { row: object }, host) =>
      host.api({ operation: 'createRecord', params: { slug: 'values' }, body: row }))`
  await made('/sdk/packs/install', {
    manifest: { format: 'opsplane.pack/1', name: 'rows', version: '1.0.0', artifacts: [artifact] },
    files: { 'keep.ts': source },
    grant: { api: ['createRecord'] },
  })
  await at.deployApp()
})

describe('a value written through', () => {
  test.each(Object.keys(doors))('%s is stored exactly, or rejected', async (name) => {
    const { write, instead } = doors[name] as Door
    const expected = cases.map((each) => {
      const back = instead?.(each)
      return back === undefined ? each : { ...each, back }
    })
    const { rows, placed } = buildRows(name, expected)
    const answers = await write(rows)
    const written = new Map((await at.found({ tag: { starts_with: name } })).map((row) => [row.tag, row]))
    const wrong = placed.flatMap(({ column, sent, back, tag }) => {
      const record = written.get(tag)
      const fits = back === null ? !record : record && sameValue(column, record[column], parseExact(back))
      const found = record?.[column] ?? null
      return fits ? [] : [{ column, sent, back, record: found, answer: textOf(answers.get(tag)) }]
    })
    expect(wrong).toEqual([])
  })
})

const textOf = (answer: unknown) => (answer as { text?: string } | undefined)?.text?.slice(0, 500)

test('a request that differs only in a digit beyond double precision is rejected under the same idempotency key', async () => {
  const { baseUrl, apiKey, workspace } = at.platform.info
  const send = async (n: string) => {
    const headers = {
      ...{ authorization: `Bearer ${apiKey}`, 'x-workspace': workspace },
      ...{ 'content-type': 'application/json', 'idempotency-key': 'digits' },
    }
    const body = `{"tag":"digits","extra":${n}}`
    const answer = await fetch(`${baseUrl}${records}`, { method: 'POST', headers, body })
    return { status: answer.status, text: await answer.text() }
  }
  const first = await send('9007199254740993')
  expect(first).toMatchObject({ status: 201, text: expect.stringContaining('9007199254740993') })
  expect((await send('9007199254740992')).status).toBe(422)
  const again = await send('9007199254740993')
  expect(again.text.replace(/"meta".*/, '')).toBe(first.text.replace(/"meta".*/, ''))
})
