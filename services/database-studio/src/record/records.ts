import { ApiError, newId, notFound } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from '../row/conditions.js'
import { isOutdated } from '../row/failures.js'
import { readRecord, type Values } from '../row/input.js'
import { Parameters, type Statement } from '../row/parameters.js'
import { type Place, Problems } from '../row/problems.js'
import { type OneStatement, type RecordAccess, type RunRead, runStatement } from '../row/record-access.js'
import { checkReferences } from '../row/references.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { type Selection, selectAllFields, selectList } from '../row/selection.js'
import type { ShownQuery } from '../row/shown-query.js'
import { resolveSelection, rethrowReadFailure } from '../row/shown-query.js'
import { deleteStatement, insertStatement, marks, updateStatement } from '../row/write-statements.js'
import { applyValues } from '../validation/record-images.js'
import type { RecordValidator } from '../validation/record-validator.js'
import { retryOnConflict, StaleValidationError } from '../validation/retry-on-conflict.js'
import { toRowError } from './refused-row.js'

const wholeBody: Place = { in: 'body', path: '' }

/** Reads and writes of single records. */
export interface Records {
  create(slug: string, input: unknown, meta: RequestMeta): Promise<Row>
  get(slug: string, id: string, query: ShownQuery, meta: RequestMeta): Promise<Row>
  /**
   * Whether a record returned by `get` changes only together with its version: it has no expanded references and was
   * updated after the last change of its definition.
   */
  isSettled(record: Row): boolean
  update(slug: string, id: string, input: unknown, meta: RequestMeta): Promise<Row>
  delete(slug: string, id: string, meta: RequestMeta): Promise<void>
}

export function createRecords(access: RecordAccess, validating: RecordValidator): Records {
  const { withTable, commitOne, insert, read } = access
  const settled = new WeakSet<Row>()

  /**
   * Finds the reason why a change affected no record, and returns the record as the caller
   * may see it. Throws `not_found`.
   */
  const explain = async (
    { space, table, readRule }: ResolvedTable,
    id: string,
    meta: RequestMeta,
    runRead: RunRead,
  ): Promise<Row> => {
    const [row] = await runRead(getStatement(selectAllFields(table, readRule), id, space.schema))
    if (!row) throw notFound()
    if (meta.expectedVersion !== undefined && row.version !== meta.expectedVersion)
      throw preconditionFailedError()
    return row
  }

  /** Writes with the version that was validated if validations apply; otherwise with the version of If-Match. */
  const validated = async <T>(
    resolvedTable: ResolvedTable,
    { id, operation, values }: { id: string; operation: 'update' | 'delete'; values: Values },
    meta: RequestMeta,
    write: (version: number | null) => Promise<T>,
  ): Promise<T> => {
    if (!validating.concerns(resolvedTable, [operation])) return write(meta.expectedVersion ?? null)
    return retryOnConflict(async () => {
      const before = await explain(resolvedTable, id, meta, (query) => read(resolvedTable.space, query))
      const after = operation === 'update' ? applyValues(resolvedTable.table, before, values) : null
      await validating.check([{ opened: resolvedTable, operation, before, after, place: wholeBody }], meta)
      return write(before.version)
    })
  }

  return {
    create: (slug, body, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        const columnValues = parsed(resolvedTable, body, true)
        await access.refuseFull(resolvedTable)
        await checkReferences(access, resolvedTable, { rows: [columnValues], placeOf: () => wholeBody }, meta)
        const values = { ...columnValues, id: newId('record') }
        if (validating.concerns(resolvedTable, ['create']))
          await validating.check(
            [{ opened: resolvedTable, operation: 'create', before: null, after: values, place: wholeBody }],
            meta,
          )
        const isPlain = !meta.idempotency && resolvedTable.writeRule.length === 0
        const inserting = isPlain
          ? insert(resolvedTable, meta, values)
          : commitOne(
              resolvedTable,
              meta,
              one((target) =>
                insertStatement(target, { columns: Object.keys(columnValues), rows: [values] }),
              ),
              (inserted) => theOne(assertAllowed(inserted)),
            )
        return inserting.catch(createRefusalHandler(access, resolvedTable, { path: '', values }))
      }),

    get: (slug, id, query, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        const { space } = resolvedTable
        const selection = await resolveSelection(access, resolvedTable, query, meta)
        const statement = getStatement(selection, id, space.schema)
        const [row] = await read(space, statement).catch(rethrowReadFailure)
        if (!row) throw notFound()
        const { updatedAt } = resolvedTable.table
        if (selection.expanded.size === 0 && row.updatedAt !== undefined && row.updatedAt > updatedAt)
          settled.add(row)
        return row
      }),

    isSettled: (record) => settled.has(record),

    update: (slug, id, input, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        const values = parsed(resolvedTable, input, false)
        await checkReferences(
          access,
          resolvedTable,
          { rows: [{ ...values, id }], placeOf: () => wholeBody },
          meta,
        )
        const columns = Object.keys(values)
        if (columns.length === 0)
          return access.commit([resolvedTable], meta, (tx) =>
            explain(resolvedTable, id, meta, (query) => runStatement(tx, query)),
          )
        return validated(resolvedTable, { id, operation: 'update', values }, meta, (version) =>
          commitOne(
            resolvedTable,
            meta,
            one((target) => updateStatement(target, { columns, rows: [{ ...values, id, version }] })),
            async (updated, runRead) => {
              const [row] = assertAllowed(updated)
              if (row) return row
              const there = await explain(resolvedTable, id, meta, runRead)
              if (isRaced(there, version, meta)) throw new StaleValidationError()
              if (resolvedTable.writeRule.length > 0) throw ruleForbidsError()
              return there
            },
          ),
        ).catch(createRefusalHandler(access, resolvedTable, { path: '', values }))
      }),

    delete: (slug, id, meta) =>
      withTable(slug, meta, async (resolvedTable) => {
        await validated(resolvedTable, { id, operation: 'delete', values: {} }, meta, (version) =>
          commitOne(
            resolvedTable,
            meta,
            one((target) => deleteStatement(target, [{ id, version }])),
            async (deleted, runRead) => {
              if (deleted.length > 0) return
              const there = await explain(resolvedTable, id, meta, runRead)
              if (isRaced(there, version, meta)) throw new StaleValidationError()
              throw ruleForbidsError()
            },
          ),
        ).catch(createRefusalHandler(access, resolvedTable, { path: '', values: {} }))
      }),
  }
}

/** Whether the record changed after it was validated, in a request without If-Match. */
const isRaced = ({ version: present }: Row, version: number | null, meta: RequestMeta) =>
  meta.expectedVersion === undefined && version !== null && present !== version

const one = (of: OneStatement['of']): OneStatement => ({ count: 1, of })

function theOne([row]: Row[]): Row {
  if (!row) throw new Error('a record was written and not answered')
  return row
}

function parsed({ table }: ResolvedTable, input: unknown, isNew: boolean): Values {
  const problems = new Problems()
  const values = readRecord(table, input, { place: wholeBody, problems, isNew })
  problems.check()
  return values
}

export function getStatement(selection: Selection, id: string, schema: string): Statement {
  const parameters = new Parameters()
  const list = selectList(selection, 'r', schema, parameters)
  const where = `r.id = ${parameters.bind(id, 'text')} and ${conditionsSql(selection.rule, 'r', parameters)}`
  return {
    text: `select ${list} from ${quoteIdentifier(schema)}.${quoteIdentifier(selection.table.slug)} r where ${where}`,
    parameters: parameters.values,
  }
}

/** The written records without their marks. Throws `forbidden` if the caller's row rule does not allow one of them. */
export function assertAllowed(rows: Row[]): Row[] {
  for (const row of rows) {
    if (!(marks.allowed in row)) continue
    if (row[marks.allowed] !== true) throw ruleForbidsError()
    delete row[marks.allowed]
  }
  return rows
}

export const ruleForbidsError = () =>
  new ApiError('forbidden', 'A row rule of this table does not allow you to write this record.')

export const preconditionFailedError = () =>
  new ApiError('precondition_failed', 'The record has changed since the version in If-Match.')

/** Converts a Postgres error to an API error and throws it; an outdated definition is handled by `withTable`. */
export const createRefusalHandler =
  (access: Pick<RecordAccess, 'read'>, opened: ResolvedTable, written: { path: string; values: Values }) =>
  async (error: unknown): Promise<never> => {
    throw isOutdated(error) ? error : await toRowError(access, opened, written, error)
  }
