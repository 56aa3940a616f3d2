import type { QueryResult } from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'
import type { ISql } from 'postgres'
import type { TypeNames } from './type-names.js'
import { createValueReader, type Json, typeName } from './values.js'

interface CollectOptions {
  text: string
  /** Parameters in the text format of Postgres. */
  values: readonly (string | null)[]
  /** Type oids of the parameters; if absent, Postgres infers them from the context. */
  types?: readonly number[]
  maxRows: number
  /** Limit for the result: column names and values as text. */
  maxBytes: number
  /**
   * Reads all rows at once, because postgres.js has no cursor for statements that are not row queries, such as
   * EXPLAIN.
   */
  whole: boolean
  /** Reads on to the end beyond a cap, which statements that change rows require; otherwise the rest is not read. */
  drain?: boolean
  /** Called with each further page after the cap on rows was reached. */
  passed?(): void
}

interface Collected {
  /** Number of rows returned or, if the statement returns none, changed. */
  affected: number
  /** The cap that was reached. */
  truncated: QueryResult['truncated']
  result(namesOf: TypeNames): Promise<Omit<QueryResult, 'durationMs' | 'affected'>>
}

/** Reads the result of one statement row by row, up to the caps. */
interface Collector {
  /**
   * Reads by a cursor, which accepts only a single statement. Rejects with the error of Postgres, or if the
   * connection is lost.
   */
  read(tx: Pick<ISql, 'unsafe' | 'typed'>): Promise<Collected>
  /** The rows that arrived before the connection was closed for exceeding its byte limit. */
  cut(): Collected
}

interface Column {
  name: string
  type: number
}

/** Rows per page: rows of the page beyond a cap are fetched in vain. */
const page = 50
/** The oid of an unknown type: Postgres infers it from the parameter's context. */
const unknownType = 705
/** Bytes of a value in a result besides its name and content; about the same on the wire and in JSON. */
const bytesAround = 6

export function createCollector(options: CollectOptions): Collector {
  const { text, values, types = [], maxRows, maxBytes, whole, drain = false, passed } = options
  const rows: RawRow[] = []
  let bytes = 0
  let changed = 0
  let returned = 0
  let truncated: QueryResult['truncated'] = null
  let answer: Answer = {}

  const columnsOf = () => answer.statement?.columns ?? []
  const add = (row: RawRow) => {
    returned++
    if (truncated) return
    const names = columnsOf()
    for (const [index, value] of row.entries())
      bytes += (value?.length ?? 0) + (names[index]?.name.length ?? 0) + bytesAround
    truncated = rows.length >= maxRows ? 'rows' : bytes > maxBytes ? 'bytes' : null
    if (!truncated) rows.push(row)
  }
  const collected = (): Collected => {
    // Columns are known even if there are no rows; then they are the only result.
    const columns = columnsOf()
    return {
      affected: columns.length > 0 ? returned : changed,
      truncated,
      result: (namesOf) => present({ columns, rows, changed, truncated }, namesOf),
    }
  }

  return {
    async read(tx) {
      const parameters = values.map((value, index) => tx.typed(value as string, types[index] ?? unknownType))
      // Not the simple protocol, which accepts several statements.
      const pending = tx.unsafe(text, parameters as unknown as string[], { simple: false } as object).raw()
      answer = pending as Answer
      // Receives rows as they arrive; otherwise the client would buffer a whole page.
      answer.forEachFn = add
      const batches = whole ? [(await pending) as Batch] : (pending.cursor(page) as AsyncIterable<Batch>)
      for await (const batch of batches) {
        changed = batch.count ?? 0
        if (truncated && !drain) break
        if (truncated === 'rows') passed?.()
      }
      return collected()
    },
    cut() {
      truncated = 'bytes'
      return collected()
    },
  }
}

/** Reads the result of a statement, up to the caps. */
export const collectRows = (
  tx: Pick<ISql, 'unsafe' | 'typed'>,
  options: CollectOptions,
): Promise<Collected> => createCollector(options).read(tx)

type RawRow = (Buffer | null)[]

/** Members of postgres.js results that its types omit. */
interface Batch {
  count: number | null
}
interface Answer {
  statement?: { columns?: readonly Column[] | null }
  /** Receives each row as it arrives; the batches are empty then. */
  forEachFn?: (row: RawRow) => void
}

interface Found extends Pick<QueryResult, 'truncated'> {
  columns: readonly Column[]
  rows: readonly (Buffer | null)[][]
  changed: number
}

async function present({ columns, rows, changed, truncated }: Found, namesOf: TypeNames) {
  const types = await namesOf(columns.map(({ type }) => type))
  const names = distinct(columns.map(({ name }) => name))
  const readers = types.map(createValueReader)
  const slice = createSlices()
  const presentedRows: Record<string, Json>[] = []
  for (const row of rows) {
    presentedRows.push(
      Object.fromEntries(
        row.map((value, index): [string, Json] => [
          names[index] ?? '',
          value === null ? null : (readers[index]?.(value.toString()) ?? null),
        ]),
      ),
    )
    await slice()
  }
  return {
    columns: names.map((name, index) => ({ name, type: typeName(types[index] ?? '') })),
    rows: presentedRows,
    rowCount: columns.length > 0 ? rows.length : changed,
    truncated,
  }
}

/** A repeated name gets a numeric suffix. */
function distinct(names: readonly string[]): string[] {
  const usedNames = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 2; usedNames.has(free); n++) free = `${name}_${n}`
    usedNames.add(free)
    return free
  })
}
