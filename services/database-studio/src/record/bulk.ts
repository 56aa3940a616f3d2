import { newId } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import { countStatement } from '../list/list-statement.js'
import { DryRun } from '../row/dry-run.js'
import { isOutdated, tooMany } from '../row/failures.js'
import { type Condition, readFilter } from '../row/filter.js'
import { readRecord, type Values } from '../row/input.js'
import { groupsOf, insertGroups, targetOf } from '../row/inserts.js'
import { type RecordAccess, run } from '../row/open.js'
import type { Opened, Row } from '../row/opened.js'
import { below, type Place, Problems } from '../row/problems.js'
import { checkReferences } from '../row/references.js'
import { wholeOf } from '../row/selection.js'
import {
  deleteStatement,
  deleteWhereStatement,
  insertStatement,
  marks,
  updateStatement,
  updateWhereStatement,
} from '../row/write-statements.js'
import { type AsValidated, newRecords, upsertChanges } from '../validation/changes.js'
import { type Changing, validateMatching } from '../validation/matching.js'
import { untilUnraced } from '../validation/raced.js'
import type { Validating } from '../validation/validating.js'
import { failing, forbidden, onlyAllowed } from './records.js'
import { refusedRows } from './refused-row.js'

const body: Place = { in: 'body', path: '' }
const records = below(body, 'records')

export interface Matching {
  filter: Record<string, unknown>
  timeZone?: string | undefined
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

export function createBulk(access: RecordAccess, validating: Validating): Bulk {
  const { withTable, commit, commitOne } = access

  const changeMatching = (
    slug: string,
    given: Matching,
    meta: RequestMeta,
    prepare: (opened: Opened, problems: Problems) => Changing,
  ) =>
    withTable(slug, meta, async (opened) => {
      const problems = new Problems()
      const conditions = readFilter(
        opened.table,
        given.filter,
        below(body, 'filter'),
        problems,
        given.timeZone,
      )
      const changing = prepare(opened, problems)
      problems.check()
      await checkReferences(access, opened, { rows: [changing.values], placeOf: () => changing.place }, meta)
      const write = (change: (tx: StatementRunner) => Promise<Row[]>) =>
        commit([opened], meta, async (tx) => {
          await checkMatches(tx, opened, conditions, given.limit)
          const rows = onlyAllowed(await change(tx))
          if (rows.length > given.limit) throw tooMany(given.limit)
          const changed = {
            count: rows.length,
            ids: rows.map(({ id }) => String(id)).sort(),
            dryRun: given.dryRun,
          }
          if (given.dryRun) throw new DryRun(changed)
          return changed
        })
      const writing = validating.concerns(opened, [changing.operation])
        ? validateMatching(
            { access, validating },
            { opened, conditions, changing, limit: given.limit },
            meta,
            write,
          )
        : write((tx) => run(tx, changing.where(conditions)))
      const { values, place } = changing
      return writing.catch(failing(access, opened, { path: place.path, values }))
    })

  const refusing =
    (opened: Opened, rows: readonly Values[], meta: RequestMeta, on?: readonly string[]) =>
    async (error: unknown): Promise<never> => {
      if (isOutdated(error)) throw error
      const pathOf = (index: number) => recordPlace(index).path
      throw await refusedRows(access, opened, { rows, pathOf, ...(on && { on }) }, meta, error)
    }

  return {
    create: (slug, given, meta) =>
      withTable(slug, meta, async (opened) => {
        const rows = readRecords(opened, given)
        await access.refuseFull(opened)
        await checkReferences(access, opened, { rows, placeOf: recordPlace }, meta)
        if (validating.concerns(opened, ['create']))
          await validating.check(newRecords(opened, rows, recordPlace), meta)
        const groups = groupsOf(opened, rows)
        const [only] = groups
        const finish = (written: Row[]) => {
          const inOrder = onlyAllowed(written).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
          return { count: inOrder.length, records: inOrder }
        }
        const writing =
          groups.length === 1 && only
            ? commitOne(
                opened,
                meta,
                { count: only.rows.length, of: (target) => insertStatement(target, only) },
                finish,
              )
            : commit([opened], meta, async (tx) => finish(await insertGroups(tx, targetOf(opened), groups)))
        return writing.catch(refusing(opened, rows, meta))
      }),

    upsert: (slug, { on, records: given }, meta) =>
      withTable(slug, meta, async (opened) => {
        checkKey(opened, on, below(body, 'on'))
        const rows = readRecords(opened, given)
        await access.refuseFull(opened)
        await checkReferences(access, opened, { rows, placeOf: recordPlace }, meta)
        const groups = groupsOf(opened, rows, on)
        const write = (isAsValidated: AsValidated) =>
          commit([opened], meta, async (tx) => {
            const written = await insertGroups(tx, targetOf(opened), groups, { on })
            // What is not answered was there, and a rule has kept it from being changed.
            if (written.length < rows.length) throw forbidden()
            isAsValidated(written)
            return upserted(onlyAllowed(written))
          })
        const writing = validating.concerns(opened, ['create', 'update'])
          ? untilUnraced(async () => {
              const { changes, isAsValidated } = await upsertChanges(access, opened, {
                rows,
                on,
                placeOf: recordPlace,
              })
              await validating.check(changes, meta)
              return write(isAsValidated)
            })
          : write(() => {})
        return writing.catch(refusing(opened, rows, meta, on))
      }),

    update: (slug, { set, ...given }, meta) =>
      changeMatching(slug, given, meta, (opened, problems) => {
        const values = readRecord(opened.table, set, { place: below(body, 'set'), problems, isNew: false })
        const columns = Object.keys(values)
        if (Object.keys(set).length === 0)
          problems.add(below(body, 'set'), 'invalid_value', 'must name a column')
        const target = targetOf(opened)
        return {
          ...{ operation: 'update', values, place: below(body, 'set') },
          where: (conditions) => updateWhereStatement(target, { set: values, conditions }),
          those: (rows) =>
            updateStatement(target, { columns, rows: rows.map((row) => ({ ...values, ...row })) }),
        }
      }),

    delete: (slug, given, meta) =>
      changeMatching(slug, given, meta, (opened) => ({
        ...{ operation: 'delete', values: {}, place: body },
        where: (conditions) => deleteWhereStatement(targetOf(opened), conditions),
        those: (rows) => deleteStatement(targetOf(opened), rows),
      })),
  }
}

const recordPlace = (index: number): Place => below(records, index)

/** Records with new ids, in the order they are given. */
function readRecords({ table }: Opened, given: readonly unknown[]): Values[] {
  const problems = new Problems()
  const rows: Values[] = []
  for (const [index, record] of given.entries()) {
    if (problems.full) break
    const values = readRecord(table, record, { place: below(records, index), problems, isNew: true })
    values.id = newId('record')
    rows.push(values)
  }
  problems.check()
  return rows
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
