import {
  parseExact,
  type ResultColumn,
  type ResultColumnType,
  stringifyExact,
  Table,
  type TableRowsQuery,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { refuseQuery } from '../query/invalid-query.js'
import { recordColumns } from '../query/record-columns.js'
import type { OpenedRows, QueryCaller, RowPage } from '../query/types.js'

const pageRows = 1_000
const refuse = refuseQuery({
  'query /filter': 'body /source/records/filter',
  '': 'body /source/records/table',
})
const toResultColumn = ([name, type]: readonly [string, ResultColumnType]): ResultColumn => ({
  ...{ name, label: name, type, format: 'plain', role: 'dimension' },
})

export interface RecordRowsOptions {
  after?: string
  /** The columns as they were when the file was started. */
  columns?: readonly ResultColumn[]
  now: string
  signal: AbortSignal
}

/**
 * Reads records of a table in id order, with the caller's row rules applied by the database studio. A record that
 * changes during the export appears as it is when its page is read.
 */
export async function openRecordRows(
  studio: Pick<ServiceClient, 'get' | 'stream'>,
  caller: Pick<QueryCaller, 'studio'>,
  { table, filter }: TableRowsQuery,
  { after, columns: known, now, signal }: RecordRowsOptions,
): Promise<OpenedRows> {
  const issuer = await caller.studio()
  const path = `/tables/${encodeURIComponent(table)}`
  const columnsNow = async () =>
    [...recordColumns(await studio.get(path, Table, { issuer, signal }).catch(refuse))].map(toResultColumn)
  const columns = known ?? (await columnsNow())
  const names = columns.map(({ name }) => name)
  async function* pages(): AsyncIterable<RowPage> {
    const remainingFilter = after === undefined ? filter : afterId(filter, after)
    if (remainingFilter === undefined) return
    const query = new URLSearchParams({
      ...{ format: 'ndjson', fields: names.join(','), filter: stringifyExact(remainingFilter) },
    })
    let rows: unknown[][] = []
    let last = ''
    const lines = readLines(studio.stream(`${path}/records/export?${query}`, { issuer, signal }))
    for await (const line of lines) {
      const record = parseExact(line) as Record<string, unknown>
      last = String(record.id)
      rows.push(names.map((name) => record[name]))
      if (rows.length < pageRows) continue
      yield { rows, cursor: last }
      rows = []
    }
    if (rows.length > 0) yield { rows, cursor: last }
  }
  return { columns: [...columns], dataAsOf: now, pages: pages() }
}

/** Adds a lower bound on the id to the filter; `undefined` if no further record can match. */
function afterId(filter: TableRowsQuery['filter'], id: string): TableRowsQuery['filter'] | undefined {
  const idFilter = filter.id
  if (idFilter === undefined) return { ...filter, id: { gt: id } }
  const isOne = typeof idFilter !== 'object' || idFilter === null
  if (isOne) return undefined
  return { ...filter, id: { ...idFilter, gt: id } }
}

async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    refuse(error)
  }
  if (rest !== '') yield rest
}
