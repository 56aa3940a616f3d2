import { isDatabaseUnavailable } from '@opsplane/postgres'
import postgres from 'postgres'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { JournalActor } from '../data-plane/space.js'
import type { Values } from './input.js'
import type { ResolvedTable, Row } from './resolved-table.js'
import { insertStatement } from './write-statements.js'

/** A single record to create, for a caller without row rules. */
export interface NewRecord {
  opened: ResolvedTable
  acting: JournalActor
  values: Values & { id: string }
}

/** Creates a record; rejects with the Postgres error. */
export type InsertQueue = (record: NewRecord) => Promise<Row>

interface Waiting extends NewRecord {
  resolve(row: Row): void
  reject(error: unknown): void
}

/** Queue of records for one table that set the same columns. */
interface Line {
  waiting: Waiting[]
  underWay: number
}

const maxRows = 50
/**
 * Minimum number of waiting records to start a second statement while one is in flight:
 * WAL flushes are serialized anyway.
 */
const worthAnother = 16
const maxUnderWay = 2
/** Milliseconds. A slower statement is assumed to wait for a lock, and no longer delays the records behind it. */
const slowMs = 100

/**
 * Records that arrive while others of the same table are being written share the next statement, each with its own
 * actor in the journal. If Postgres rejects one of them, each is retried separately.
 */
export function createInsertQueue(plane: Pick<DataPlane, 'writeOne'>): InsertQueue {
  const lines = new Map<string, Line>()

  async function insert(group: readonly Waiting[]): Promise<void> {
    try {
      const rows = await insertTogether(plane, group)
      for (const { values, resolve, reject } of group) {
        const row = rows.get(values.id)
        if (row) resolve(row)
        else reject(new Error('a record was written and not answered'))
      }
    } catch (error) {
      if (group.length > 1 && concernsOne(error)) await Promise.all(group.map((one) => insert([one])))
      else for (const { reject } of group) reject(error)
    }
  }

  function start(key: string, line: Line): void {
    line.underWay++
    let counts = true
    const pass = () => {
      if (counts) line.underWay--
      counts = false
      pump(key, line)
    }
    const slow = setTimeout(pass, slowMs)
    void insert(line.waiting.splice(0, maxRows)).finally(() => {
      clearTimeout(slow)
      pass()
    })
  }

  function pump(key: string, line: Line): void {
    while (line.underWay < maxUnderWay && line.waiting.length >= (line.underWay === 0 ? 1 : worthAnother))
      start(key, line)
    if (line.underWay === 0 && line.waiting.length === 0 && lines.get(key) === line) lines.delete(key)
  }

  return (record) =>
    new Promise((resolve, reject) => {
      const key = lineOf(record)
      const line = lines.get(key) ?? { waiting: [], underWay: 0 }
      lines.set(key, line)
      line.waiting.push({ ...record, resolve, reject })
      // Batches the records that arrive in the same turn of the event loop.
      if (line.waiting.length === 1) setImmediate(() => pump(key, line))
    })
}

const lineOf = ({ opened: { space, table }, values }: NewRecord) =>
  `${space.id}/${table.id}/${table.version}/${Object.keys(values).join()}`

async function insertTogether(
  plane: Pick<DataPlane, 'writeOne'>,
  group: readonly NewRecord[],
): Promise<Map<unknown, Row>> {
  const [first] = group
  if (!first) return new Map()
  const { space, table } = first.opened
  const columns = Object.keys(first.values).filter((name) => name !== 'id')
  const rows = await plane.writeOne<Row>(space, actingTogether(first.acting, group), (proof) =>
    insertStatement(
      { schema: space.schema, table, rule: [], proof },
      { columns, rows: group.map(({ values }) => values) },
    ),
  )
  return new Map(rows.map((row) => [row.id, row]))
}

function actingTogether(journalActor: JournalActor, group: readonly NewRecord[]): JournalActor {
  if (group.length === 1) return journalActor
  const each = group.map(({ values, acting: { actor, requestId, causationId, source } }) => [
    values.id,
    { actor, requestId, causationId, source },
  ])
  return { ...journalActor, records: Object.fromEntries(each) }
}

/** Whether a retry of each record can help. Not if the outcome is unknown, or if the records failed together. */
const concernsOne = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && !isDatabaseUnavailable(error) && error.code !== '57014'
