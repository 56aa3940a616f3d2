import { beforeAll, describe, expect, test } from '@jest/globals'
import { ExactNumber, exactNumbersAsText, parseExact, stringifyExact } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { type Case, cases, columns, sameValue, typeOf } from './cases.js'
import { type Joined, joinExactly } from './exact-client.js'

type Row = Record<string, unknown>

let at: Joined
const api: Joined['api'] = (...call) => at.api(...call)
const made: Joined['made'] = (...call) => at.made(...call)
const records = '/tables/values/records'

beforeAll(async () => {
  at = await joinExactly()
  await made('/tables', { slug: 'values', columns })
})

/** Sends a row, which may be refused: then no record has its tag. */
type Write = (row: Row) => Promise<unknown>
interface Door {
  write: Write
  /** What is expected instead of what the table of cases says; undefined for the same. */
  instead?(given: Case): string | null | undefined
}

/** Where numbers beyond a double arrive as strings. */
function asText({ column, sent, back }: Case): string | undefined {
  const value = parseExact(sent)
  if (['text', 'enum'].includes(typeOf(column)))
    return value instanceof ExactNumber ? stringifyExact(value.text) : undefined
  return typeOf(column) === 'json' && back !== null
    ? stringifyExact(exactNumbersAsText(parseExact(back)))
    : undefined
}

const imported = async (body: string, format: 'csv' | 'ndjson') => {
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const { json, text } = await api<{ id: string }>('POST', `${records}/import?format=${format}`, body, type)
  if (!json?.data) throw new Error(text)
  await waitFor(
    async () => {
      const { data } = (await api<{ finishedAt: unknown }>('GET', `/tables/values/imports/${json.data.id}`))
        .json
      return data.finishedAt !== null
    },
    { message: `the import of ${body}` },
  )
}
const cellOf = (value: unknown) => {
  const text = typeof value === 'string' ? value : stringifyExact(value)
  return `"${text.replaceAll('"', '""')}"`
}
const statementOf = (row: Row) => {
  const names = Object.keys(row)
  const types = Object.fromEntries(
    names.map((name) => [name, typeOf(name) === 'enum' ? 'text' : typeOf(name)]),
  )
  return {
    sql: `insert into values (${names}) values (${names.map((name) => `:${name}`)})`.replace(
      'into values',
      'into "values"',
    ),
    names,
    types,
  }
}
/** A number is a text to Postgres where the parameter is one, and the scale of a column rounds in SQL. */
const inSql = ({ column, sent }: Case): string | null | undefined => {
  if (sent === '0.12345678901234567') return '"0.1235"'
  return typeOf(column) === 'json' ? undefined : asText({ column, sent, back: null })
}

const doors: Record<string, Door> = {
  record: { write: (row) => api('POST', records, row) },
  'a change of a record': {
    async write({ tag, ...row }) {
      const { id } = await made(records, { tag: `empty ${tag}` })
      await api('PATCH', `${records}/${id}`, { tag, ...row })
    },
  },
  bulk: { write: (row) => api('POST', `${records}/bulk`, { records: [row] }) },
  upsert: { write: (row) => api('PUT', `${records}/bulk`, { on: ['tag'], records: [row] }) },
  'a change by a filter': {
    async write({ tag, ...row }) {
      await made(records, { tag: `empty ${tag}` })
      await api('PATCH', `${records}/bulk`, { filter: { tag: `empty ${tag}` }, set: { tag, ...row } })
    },
  },
  batch: {
    write: (data) => api('POST', '/tables/batch', { operations: [{ op: 'create', table: 'values', data }] }),
  },
  'an import of ndjson': { write: (row) => imported(`${stringifyExact(row)}\n`, 'ndjson') },
  'an import of CSV': {
    write: (row) => imported(`${Object.keys(row)}\n${Object.values(row).map(cellOf)}\n`, 'csv'),
    instead(given) {
      if (given.sent === '1e400' || given.sent === '1e-400') return `"${given.sent}"`
      return typeOf(given.column) === 'json' ? undefined : asText(given)
    },
  },
  'parameters of SQL': {
    write: (row) => {
      const { sql, types } = statementOf(row)
      return api('POST', '/queries/run', { sql, types, parameters: row, mode: 'write' })
    },
    instead: inSql,
  },
  'parameters of a saved query': {
    async write(row) {
      const { sql, names, types } = statementOf(row)
      const parameters = names.map((name) => ({ name, type: types[name] }))
      const { id } = await made('/queries', { name: `Insert ${row.tag}`, sql, parameters, mode: 'write' })
      await api('POST', `/queries/${id}/run`, { parameters: row })
    },
    instead: inSql,
  },
  'the input of a workflow': {
    write: (row) => api('POST', `/workflows/${workflow}/trigger?wait=20`, { input: { row } }),
    instead: asText,
  },
  'the input of an artifact': {
    write: (row) => api('POST', '/sdk/artifacts/keep-row/invoke', { input: { row } }),
    instead: asText,
  },
  'a form of an app': {
    write: (values) =>
      api(
        'POST',
        `${new URL(at.platform.info.baseUrl).origin}/apps/${at.platform.info.workspace}/values/-/actions`,
        {
          ...{ source: 'values', operation: 'create', values },
        },
      ),
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
  const app = await made('/apps', { slug: 'values', name: 'Values' })
  const names = columns.map(({ name }) => name)
  await made(`/apps/${app.id}/data-sources`, {
    name: 'values',
    binding: { kind: 'table', table: 'values', operations: ['list', 'create'], writable: names },
  })
  await made(`/apps/${app.id}/pages`, {
    ...{ slug: 'all', title: 'All' },
    components: [{ type: 'table', label: 'Values', source: 'values', columns: [{ field: 'tag' }] }],
  })
  await made(`/apps/${app.id}/deploy`, { note: 'First' })
})

describe('what is written through', () => {
  test.each(Object.keys(doors))('%s is kept exactly, or refused', async (name) => {
    const { write, instead } = doors[name] as Door
    const wrong: unknown[] = []
    for (const [place, each] of cases.entries()) {
      const { column, sent } = each
      const tag = `${name} ${place}`
      const answer = await write({ tag, [column]: parseExact(sent) })
      const [record] = await at.found({ tag })
      const other = instead?.(each)
      const back = other === undefined ? each.back : other
      const fits =
        back === null ? record === undefined : record && sameValue(column, record[column], parseExact(back))
      if (!fits) wrong.push({ column, sent, back, record: record?.[column] ?? null, answer: textOf(answer) })
    }
    expect(wrong).toEqual([])
  })
})

const textOf = (answer: unknown) => (answer as { text?: string } | undefined)?.text?.slice(0, 500)

test('a request that differs in a digit beyond a double is another one under the same key', async () => {
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
