import { newId } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import { countStatement } from '../list/list-statement.js'
import { DryRun } from '../row/dry-run.js'
import { isOutdated, tooManyError } from '../row/failures.js'
import { type Condition, readFilter } from '../row/filter.js'
import { readRecord, type Values } from '../row/input.js'
import { groupInserts, insertGroups, toWriteTarget } from '../row/inserts.js'
import { type Place, Problems, pathBelow } from '../row/problems.js'
import { type RecordAccess, runStatement } from '../row/record-access.js'
import { checkReferences } from '../row/references.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { selectAllFields } from '../row/selection.js'
import {
  deleteStatement,
  deleteWhereStatement,
  insertStatement,
  marks,
  updateStatement,
  updateWhereStatement,
} from '../row/write-statements.js'
import { type CheckUnchanged, findUpsertChanges, toCreations } from '../validation/changes.js'
import { type FilteredChange, validateMatching } from '../validation/matching.js'
import type { RecordValidator } from '../validation/record-validator.js'
import { retryOnConflict } from '../validation/retry-on-conflict.js'
import { assertAllowed, createRefusalHandler, ruleForbidsError } from './records.js'
import { toRowsError } from './refused-row.js'

const body: Place = { in: 'body', path: '' }
const records = pathBelow(body, 'records')

export interface MatchingRecords {
  filter: Record<string, unknown>
  timeZone?: string | undefined
  limit: number
  dryRun: boolean
}

export interface BulkResult {
  count: number
  ids: string[]
  dryRun: boolean
}

/** Writes of many records at once: all or none. */
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
    given: MatchingRecords & { set: Record<string, unknown> },
    meta: RequestMeta,
  ): Promise<BulkResult>
  delete(slug: string, given: MatchingRecords, meta: RequestMeta): Promise<BulkResult>
}

export function createBulk(access: RecordAccess, validating: RecordValidator): Bulk {
  const { withTable, commit, commitOne } = access

  const changeMatching = (
    slug: string,
    given: MatchingRecords,
    meta: RequestMeta,
    prepare: (opened: ResolvedTable, problems: Problems) => FilteredChange,
  ) =>
    withTable(slug, meta, async (opened) => {
      const problems = new Problems()
      const conditions = readFilter(
        opened.table,
        given.filter,
        pathBelow(body, 'filter'),
        problems,
        given.timeZone,
      )
      const changing = prepare(opened, problems)
      problems.check()
      await checkReferences(access, opened, { rows: [changing.values], placeOf: () => changing.place }, meta)
      const write = (change: (tx: StatementRunner) => Promise<Row[]>) =>
        commit([opened], meta, async (tx) => {
          await checkMatches(tx, opened, conditions, given.limit)
          const rows = assertAllowed(await change(tx))
          if (rows.length > given.limit) throw tooManyError(given.limit)
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
        : write((tx) => runStatement(tx, changing.where(conditions)))
      const { values, place } = changing
      return writing.catch(createRefusalHandler(access, opened, { path: place.path, values }))
    })

  const refusing =
    (opened: ResolvedTable, rows: readonly Values[], meta: RequestMeta, on?: readonly string[]) =>
    async (error: unknown): Promise<never> => {
      if (isOutdated(error)) throw error
      const pathOf = (index: number) => recordPlace(index).path
      throw await toRowsError(access, opened, { rows, pathOf, ...(on && { on }) }, meta, error)
    }

  return {
    create: (slug, given, meta) =>
      withTable(slug, meta, async (opened) => {
        const rows = readRecords(opened, given)
        await access.refuseFull(opened)
        await checkReferences(access, opened, { rows, placeOf: recordPlace }, meta)
        if (validating.concerns(opened, ['create']))
          await validating.check(toCreations(opened, rows, recordPlace), meta)
        const groups = groupInserts(opened, rows)
        const [only] = groups
        const finish = (written: Row[]) => {
          const inOrder = assertAllowed(written).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
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
            : commit([opened], meta, async (tx) =>
                finish(await insertGroups(tx, toWriteTarget(opened), groups)),
              )
        return writing.catch(refusing(opened, rows, meta))
      }),

    upsert: (slug, { on, records: given }, meta) =>
      withTable(slug, meta, async (opened) => {
        checkKey(opened, on, pathBelow(body, 'on'))
        const rows = readRecords(opened, given)
        await access.refuseFull(opened)
        await checkReferences(access, opened, { rows, placeOf: recordPlace }, meta)
        const groups = groupInserts(opened, rows, on)
        const write = (isAsValidated: CheckUnchanged) =>
          commit([opened], meta, async (tx) => {
            const written = await insertGroups(tx, toWriteTarget(opened), groups, { on })
            // A row that was not returned existed already, and a row rule kept it from being updated.
            if (written.length < rows.length) throw ruleForbidsError()
            isAsValidated(written)
            return upserted(assertAllowed(written))
          })
        const writing = validating.concerns(opened, ['create', 'update'])
          ? retryOnConflict(async () => {
              const { changes, isAsValidated } = await findUpsertChanges(access, opened, {
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
        const values = readRecord(opened.table, set, {
          place: pathBelow(body, 'set'),
          problems,
          isNew: false,
        })
        const columns = Object.keys(values)
        if (Object.keys(set).length === 0)
          problems.add(pathBelow(body, 'set'), 'invalid_value', 'must name a column')
        const target = toWriteTarget(opened)
        return {
          ...{ operation: 'update', values, place: pathBelow(body, 'set') },
          where: (conditions) => updateWhereStatement(target, { set: values, conditions }),
          those: (rows) =>
            updateStatement(target, { columns, rows: rows.map((row) => ({ ...values, ...row })) }),
        }
      }),

    delete: (slug, given, meta) =>
      changeMatching(slug, given, meta, (opened) => ({
        ...{ operation: 'delete', values: {}, place: body },
        where: (conditions) => deleteWhereStatement(toWriteTarget(opened), conditions),
        those: (rows) => deleteStatement(toWriteTarget(opened), rows),
      })),
  }
}

const recordPlace = (index: number): Place => pathBelow(records, index)

/** Records with new ids, in the given order. */
function readRecords({ table }: ResolvedTable, given: readonly unknown[]): Values[] {
  const problems = new Problems()
  const rows: Values[] = []
  for (const [index, record] of given.entries()) {
    if (problems.full) break
    const values = readRecord(table, record, { place: pathBelow(records, index), problems, isNew: true })
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

/** Throws unless the combination of these columns is unique. */
export function checkKey({ table }: ResolvedTable, on: readonly string[], place: Place): void {
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

/** Throws before the change if more than `limit` records match. */
async function checkMatches(
  tx: StatementRunner,
  { space, table, readRule }: ResolvedTable,
  conditions: readonly Condition[],
  limit: number,
): Promise<void> {
  const selection = selectAllFields(table, readRule)
  const asked = { selection, schema: space.schema, conditions, access: { served: true } as const }
  const [counted] = await runStatement<{ count: string }>(tx, countStatement(asked, limit + 1))
  if (Number(counted?.count ?? 0) > limit) throw tooManyError(limit)
}
