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
    recordInputs: readonly unknown[],
    meta: RequestMeta,
  ): Promise<{ count: number; records: Row[] }>
  upsert(
    slug: string,
    input: { on: readonly string[]; records: readonly unknown[] },
    meta: RequestMeta,
  ): Promise<{ created: number; updated: number; records: Row[] }>
  update(
    slug: string,
    request: MatchingRecords & { set: Record<string, unknown> },
    meta: RequestMeta,
  ): Promise<BulkResult>
  delete(slug: string, request: MatchingRecords, meta: RequestMeta): Promise<BulkResult>
}

export function createBulk(access: RecordAccess, validating: RecordValidator): Bulk {
  const { withTable, commit, commitOne } = access

  const changeMatching = (
    slug: string,
    request: MatchingRecords,
    meta: RequestMeta,
    prepare: (resolvedTable: ResolvedTable, problems: Problems) => FilteredChange,
  ) =>
    withTable(slug, meta, async (resolvedTable) => {
      const problems = new Problems()
      const conditions = readFilter(
        resolvedTable.table,
        request.filter,
        pathBelow(body, 'filter'),
        problems,
        request.timeZone,
      )
      const changing = prepare(resolvedTable, problems)
      problems.check()
      await checkReferences(
        access,
        resolvedTable,
        { rows: [changing.values], placeOf: () => changing.place },
        meta,
      )
      const write = (change: (tx: StatementRunner) => Promise<Row[]>) =>
        commit([resolvedTable], meta, async (tx) => {
          await checkMatches(tx, resolvedTable, conditions, request.limit)
          const rows = assertAllowed(await change(tx))
          if (rows.length > request.limit) throw tooManyError(request.limit)
          const changed = {
            count: rows.length,
            ids: rows.map(({ id }) => String(id)).sort(),
            dryRun: request.dryRun,
          }
          if (request.dryRun) throw new DryRun(changed)
          return changed
        })
      const writing = validating.concerns(resolvedTable, [changing.operation])
        ? validateMatching(
            { access, validating },
            { opened: resolvedTable, conditions, changing, limit: request.limit },
            meta,
            write,
          )
        : write((tx) => runStatement(tx, changing.where(conditions)))
      const { values, place } = changing
      return writing.catch(createRefusalHandler(access, resolvedTable, { path: place.path, values }))
    })

  const refusing =
    (resolvedTable: ResolvedTable, rows: readonly Values[], meta: RequestMeta, on?: readonly string[]) =>
    async (error: unknown): Promise<never> => {
      if (isOutdated(error)) throw error
      const pathOf = (index: number) => recordPlace(index).path
      throw await toRowsError(access, resolvedTable, { rows, pathOf, ...(on && { on }) }, meta, error)
    }

  return {
    create: (slug, recordInputs, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        const rows = readRecords(resolvedTable, recordInputs)
        await access.refuseFull(resolvedTable)
        await checkReferences(access, resolvedTable, { rows, placeOf: recordPlace }, meta)
        if (validating.concerns(resolvedTable, ['create']))
          await validating.check(toCreations(resolvedTable, rows, recordPlace), meta)
        const groups = groupInserts(resolvedTable, rows)
        const [only] = groups
        const finish = (written: Row[]) => {
          const inOrder = assertAllowed(written).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
          return { count: inOrder.length, records: inOrder }
        }
        const writing =
          groups.length === 1 && only
            ? commitOne(
                resolvedTable,
                meta,
                { count: only.rows.length, of: (target) => insertStatement(target, only) },
                finish,
              )
            : commit([resolvedTable], meta, async (tx) =>
                finish(await insertGroups(tx, toWriteTarget(resolvedTable), groups)),
              )
        return writing.catch(refusing(resolvedTable, rows, meta))
      }),

    upsert: (slug, { on, records: given }, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        checkKey(resolvedTable, on, pathBelow(body, 'on'))
        const rows = readRecords(resolvedTable, given)
        await access.refuseFull(resolvedTable)
        await checkReferences(access, resolvedTable, { rows, placeOf: recordPlace }, meta)
        const groups = groupInserts(resolvedTable, rows, on)
        const write = (isAsValidated: CheckUnchanged) =>
          commit([resolvedTable], meta, async (tx) => {
            const written = await insertGroups(tx, toWriteTarget(resolvedTable), groups, { on })
            // A row that was not returned existed already, and a row rule kept it from being updated.
            if (written.length < rows.length) throw ruleForbidsError()
            isAsValidated(written)
            return upserted(assertAllowed(written))
          })
        const writing = validating.concerns(resolvedTable, ['create', 'update'])
          ? retryOnConflict(async () => {
              const { changes, isAsValidated } = await findUpsertChanges(access, resolvedTable, {
                rows,
                on,
                placeOf: recordPlace,
              })
              await validating.check(changes, meta)
              return write(isAsValidated)
            })
          : write(() => {})
        return writing.catch(refusing(resolvedTable, rows, meta, on))
      }),

    update: (slug, { set, ...given }, meta) =>
      changeMatching(slug, given, meta, (resolvedTable, problems) => {
        const values = readRecord(resolvedTable.table, set, {
          place: pathBelow(body, 'set'),
          problems,
          isNew: false,
        })
        const columns = Object.keys(values)
        if (Object.keys(set).length === 0)
          problems.add(pathBelow(body, 'set'), 'invalid_value', 'must name a column')
        const target = toWriteTarget(resolvedTable)
        return {
          ...{ operation: 'update', values, place: pathBelow(body, 'set') },
          where: (conditions) => updateWhereStatement(target, { set: values, conditions }),
          those: (rows) =>
            updateStatement(target, { columns, rows: rows.map((row) => ({ ...values, ...row })) }),
        }
      }),

    delete: (slug, request, meta) =>
      changeMatching(slug, request, meta, (resolvedTable) => ({
        ...{ operation: 'delete', values: {}, place: body },
        where: (conditions) => deleteWhereStatement(toWriteTarget(resolvedTable), conditions),
        those: (rows) => deleteStatement(toWriteTarget(resolvedTable), rows),
      })),
  }
}

const recordPlace = (index: number): Place => pathBelow(records, index)

/** Records with new ids, in the given order. */
function readRecords({ table }: ResolvedTable, recordInputs: readonly unknown[]): Values[] {
  const problems = new Problems()
  const rows: Values[] = []
  for (const [index, record] of recordInputs.entries()) {
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
  const countRequest = { selection, schema: space.schema, conditions, access: { served: true } as const }
  const [counted] = await runStatement<{ count: string }>(tx, countStatement(countRequest, limit + 1))
  if (Number(counted?.count ?? 0) > limit) throw tooManyError(limit)
}
