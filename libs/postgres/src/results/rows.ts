import type { QueryResult } from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'
import type { ISql } from 'postgres'
import type { TypeNames } from './type-names.js'
import { createValueReader, type Json, typeName } from './values.js'

interface CollectOptions {
  text: string
  /** As Postgres reads them. */
  values: readonly (string | null)[]
  /** Their types by Postgres' numbers; it tells them by where they stand unless given. */
  types?: readonly number[]
  maxRows: number
  /** Of the answer: names and values as text. */
  maxBytes: number
  /** All at once: of what is no query of rows, such as EXPLAIN, postgres.js has no cursor. */
  whole: boolean
  /** Reads on to the end beyond a cap, as a statement that changes rows has to; otherwise the rest is left alone. */
  drain?: boolean
  /** Called with each page beyond the rows that are answered, while one has been reached that is not of bytes. */
  passed?(): void
}

interface Collected {
  /** Rows that were returned or, where none are, changed. */
  affected: number
  /** Which cap has ended it. */
  truncated: QueryResult['truncated']
  result(namesOf: TypeNames): Promise<Omit<QueryResult, 'durationMs' | 'affected'>>
}

/** Reads the answer to one statement up to the caps, row by row as they arrive. */
interface Collector {
  /** By a cursor, which takes one statement only. Rejects with what Postgres says, or the loss of the connection. */
  read(tx: Pick<ISql, 'unsafe' | 'typed'>): Promise<Collected>
  /** What has arrived before the connection was ended for its bytes. */
  cut(): Collected
}

interface Column {
  name: string
  type: number
}

/** Rows that come at once: what comes beyond a cap is fetched in vain. */
const page = 50
/** The type of what has none yet: Postgres tells it by where a parameter stands. */
const unknownType = 705
/** What a value takes in an answer besides its name and itself, on the wire as in JSON. */
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
    // Known even where no row comes, and then said here alone.
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
      // Not the simple protocol, which takes several statements.
      const pending = tx.unsafe(text, parameters as unknown as string[], { simple: false } as object).raw()
      answer = pending as Answer
      // A page would be buffered until its last row is there.
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

/** Reads what a statement answers, up to the caps. */
export const collectRows = (
  tx: Pick<ISql, 'unsafe' | 'typed'>,
  options: CollectOptions,
): Promise<Collected> => createCollector(options).read(tx)

type RawRow = (Buffer | null)[]

/** What postgres.js has besides the rows, and its types leave out. */
interface Batch {
  count: number | null
}
interface Answer {
  statement?: { columns?: readonly Column[] | null }
  /** Given each row as it arrives; batches are empty then. */
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
  const presented: Record<string, Json>[] = []
  for (const row of rows) {
    presented.push(
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
    rows: presented,
    rowCount: columns.length > 0 ? rows.length : changed,
    truncated,
  }
}

/** A name that comes again gets a number. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}
