import { ApiError, newId } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import { countStatement } from '../list/list-statement.js'
import { DryRun } from './dry-run.js'
import { type Condition, readFilter } from './filter.js'
import { readRecord, type Values } from './input.js'
import { type Opened, type RecordAccess, type Row, run } from './open.js'
import { below, type Place, Problems } from './problems.js'
import { failing, forbidden, onlyAllowed } from './records.js'
import { wholeOf } from './selection.js'
import {
  deleteWhereStatement,
  type Insert,
  insertStatement,
  marks,
  updateWhereStatement,
  type WriteTarget,
} from './write-statements.js'

const body: Place = { in: 'body', path: '' }
const records = below(body, 'records')

export interface Matching {
  filter: Record<string, unknown>
  limit: number
  dryRun: boolean
}

export interface Changed {
  count: number
  ids: string[]
  dryRun: boolean
}

/** Many records at once: all of it, or nothing. */
export interface Bulk {
  create(
    slug: string,
    given: readonly unknown[],
    meta: RequestMeta,
  ): Promise<{ count: number; records: Row[] }>
  upsert(
    slug: string,
    given: { on: readonly string[]; records: readonly unknown[] },
    meta: RequestMeta,
  ): Promise<{ created: number; updated: number; records: Row[] }>
  update(
    slug: string,
    given: Matching & { set: Record<string, unknown> },
    meta: RequestMeta,
  ): Promise<Changed>
  delete(slug: string, given: Matching, meta: RequestMeta): Promise<Changed>
}

export function createBulk(access: RecordAccess): Bulk {
  const { withTable, commit, commitOne } = access

  const changeMatching = (
    slug: string,
    given: Matching,
    meta: RequestMeta,
    prepare: (opened: Opened, problems: Problems) => Change,
  ) =>
    withTable(slug, meta, async (opened) => {
      const problems = new Problems()
      const conditions = readFilter(opened.table, given.filter, below(body, 'filter'), problems)
      const change = prepare(opened, problems)
      problems.check()
      return commit([opened], meta, async (tx) => {
        await checkMatches(tx, opened, conditions, given.limit)
        const rows = onlyAllowed(await change(tx, conditions))
        if (rows.length > given.limit) throw tooMany(given.limit)
        const changed = {
          count: rows.length,
          ids: rows.map(({ id }) => String(id)).sort(),
          dryRun: given.dryRun,
        }
        if (given.dryRun) throw new DryRun(changed)
        return changed
      }).catch(failing(opened))
    })

  return {
    create: (slug, given, meta) =>
      withTable(slug, meta, async (opened) => {
        const rows = readRecords(opened, given)
        const groups = groupsOf(opened, rows)
        const [only] = groups
        const finish = (written: Row[]) => {
          const inOrder = onlyAllowed(written).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
          return { count: inOrder.length, records: inOrder }
        }
        const writing =
          groups.length === 1 && only
            ? commitOne(opened, meta, (target) => insertStatement(target, only), finish)
            : commit([opened], meta, async (tx) => finish(await insertGroups(tx, targetOf(opened), groups)))
        return writing.catch(failing(opened, '/records'))
      }),

    upsert: (slug, { on, records: given }, meta) =>
      withTable(slug, meta, async (opened) => {
        checkKey(opened, on, below(body, 'on'))
        const rows = readRecords(opened, given)
        const groups = groupsOf(opened, rows)
        return commit([opened], meta, async (tx) => {
          const written = await insertGroups(tx, targetOf(opened), groups, { on })
          // What is not answered was there, and a rule has kept it from being changed.
          if (written.length < rows.length) throw forbidden()
          return upserted(onlyAllowed(written))
        }).catch(failing(opened, '/records'))
      }),

    update: (slug, { set, ...given }, meta) =>
      changeMatching(slug, given, meta, (opened, problems) => {
        const values = readRecord(opened.table, set, { place: below(body, 'set'), problems, isNew: false })
        if (Object.keys(set).length === 0)
          problems.add(below(body, 'set'), 'invalid_value', 'must name a column')
        return (tx, conditions) =>
          run(tx, updateWhereStatement(targetOf(opened), { set: values, conditions }))
      }),

    delete: (slug, given, meta) =>
      changeMatching(slug, given, meta, (opened) => {
        return (tx, conditions) => run(tx, deleteWhereStatement(targetOf(opened), conditions))
      }),
  }
}

type Change = (tx: StatementRunner, conditions: readonly Condition[]) => Promise<Row[]>

/** One insert: records that name the same columns. */
export interface Group {
  columns: string[]
  rows: Values[]
}

export const targetOf = ({ space, table, writeRule }: Opened): WriteTarget => ({
  schema: space.schema,
  table,
  rule: writeRule,
})

/** Records with new ids, in the order they are given. */
function readRecords({ table }: Opened, given: readonly unknown[]): Values[] {
  const problems = new Problems()
  const rows: Values[] = []
  for (const [index, record] of given.entries()) {
    if (problems.full) break
    const values = readRecord(table, record, { place: below(records, index), problems, isNew: true })
    rows.push({ ...values, id: newId('record') })
  }
  problems.check()
  return rows
}

/** Records that leave the same defaults to Postgres go into one insert; what has no default and is left out is null. */
export function groupsOf({ table }: Pick<Opened, 'table'>, rows: readonly Values[]): Group[] {
  const withDefault = table.columns.filter((column) => column.default !== null).map(({ name }) => name)
  const groups = new Map<string, { columns: Set<string>; rows: Values[] }>()
  for (const row of rows) {
    const key = withDefault.map((name) => (Object.hasOwn(row, name) ? 1 : 0)).join('')
    const group = groups.get(key) ?? { columns: new Set<string>(), rows: [] }
    for (const name in row) if (name !== 'id') group.columns.add(name)
    group.rows.push(row)
    groups.set(key, group)
  }
  return [...groups.values()].map((group) => ({ ...group, columns: [...group.columns] }))
}

export async function insertGroups(
  tx: StatementRunner,
  target: WriteTarget,
  groups: readonly Group[],
  options: Pick<Insert, 'on' | 'answer'> = {},
): Promise<Row[]> {
  const written: Row[] = []
  for (const group of groups)
    written.push(...(await run(tx, insertStatement(target, { ...group, ...options }))))
  return written
}

function upserted(rows: Row[]) {
  const created = rows.filter((row) => row[marks.created] === true).length
  for (const row of rows) delete row[marks.created]
  return { created, updated: rows.length - created, records: rows }
}

/** Throws unless these columns together are unique. */
export function checkKey({ table }: Opened, on: readonly string[], place: Place): void {
  const problems = new Problems()
  const keys = [
    ['id'],
    ...table.columns.filter(({ unique }) => unique).map(({ name }) => [name]),
    ...table.uniques.map(({ columns }) => columns),
    ...table.indexes.filter(({ unique }) => unique).map(({ columns }) => columns.map(({ name }) => name)),
  ].map((names) => names.toSorted().join())
  if (!keys.includes(on.toSorted().join()))
    problems.add(place, 'invalid_value', `must be the columns of something unique of ${table.slug}`)
  problems.check()
}

/** Refuses to begin where more match than may be changed. */
async function checkMatches(
  tx: StatementRunner,
  { space, table, readRule }: Opened,
  conditions: readonly Condition[],
  limit: number,
): Promise<void> {
  const selection = wholeOf(table, readRule)
  const asked = { selection, schema: space.schema, conditions, access: { served: true } as const }
  const [counted] = await run<{ count: string }>(tx, countStatement(asked, limit + 1))
  if (Number(counted?.count ?? 0) > limit) throw tooMany(limit)
}

const tooMany = (limit: number) =>
  new ApiError('validation_failed', `More than ${limit} records match, so none was changed.`, {
    details: [
      {
        in: 'body',
        path: '/limit',
        code: 'too_many',
        message: 'is smaller than the number of records that match',
      },
    ],
  })
