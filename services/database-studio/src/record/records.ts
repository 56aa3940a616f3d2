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
  create(slug: string, given: unknown, meta: RequestMeta): Promise<Row>
  get(slug: string, id: string, query: ShownQuery, meta: RequestMeta): Promise<Row>
  /**
   * Whether a record returned by `get` changes only together with its version: it has no expanded references and was
   * updated after the last change of its definition.
   */
  isSettled(record: Row): boolean
  update(slug: string, id: string, given: unknown, meta: RequestMeta): Promise<Row>
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
    look: RunRead,
  ): Promise<Row> => {
    const [row] = await look(getStatement(selectAllFields(table, readRule), id, space.schema))
    if (!row) throw notFound()
    if (meta.expectedVersion !== undefined && row.version !== meta.expectedVersion)
      throw preconditionFailedError()
    return row
  }

  /** Writes with the version that was validated if validations apply; otherwise with the version of If-Match. */
  const validated = async <T>(
    opened: ResolvedTable,
    { id, operation, values }: { id: string; operation: 'update' | 'delete'; values: Values },
    meta: RequestMeta,
    write: (version: number | null) => Promise<T>,
  ): Promise<T> => {
    if (!validating.concerns(opened, [operation])) return write(meta.expectedVersion ?? null)
    return retryOnConflict(async () => {
      const before = await explain(opened, id, meta, (looked) => read(opened.space, looked))
      const after = operation === 'update' ? applyValues(opened.table, before, values) : null
      await validating.check([{ opened, operation, before, after, place: wholeBody }], meta)
      return write(before.version)
    })
  }

  return {
    create: (slug, body, meta) =>
      withTable(slug, meta, async (opened) => {
        const given = parsed(opened, body, true)
        await access.refuseFull(opened)
        await checkReferences(access, opened, { rows: [given], placeOf: () => wholeBody }, meta)
        const values = { ...given, id: newId('record') }
        if (validating.concerns(opened, ['create']))
          await validating.check(
            [{ opened, operation: 'create', before: null, after: values, place: wholeBody }],
            meta,
          )
        const isPlain = !meta.idempotency && opened.writeRule.length === 0
        const inserting = isPlain
          ? insert(opened, meta, values)
          : commitOne(
              opened,
              meta,
              one((target) => insertStatement(target, { columns: Object.keys(given), rows: [values] })),
              (inserted) => theOne(assertAllowed(inserted)),
            )
        return inserting.catch(createRefusalHandler(access, opened, { path: '', values }))
      }),

    get: (slug, id, query, meta) =>
      withTable(slug, meta, async (opened) => {
        const { space } = opened
        const selection = await resolveSelection(access, opened, query, meta)
        const statement = getStatement(selection, id, space.schema)
        const [row] = await read(space, statement).catch(rethrowReadFailure)
        if (!row) throw notFound()
        const { updatedAt } = opened.table
        if (selection.expanded.size === 0 && row.updatedAt !== undefined && row.updatedAt > updatedAt)
          settled.add(row)
        return row
      }),

    isSettled: (record) => settled.has(record),

    update: (slug, id, given, meta) =>
      withTable(slug, meta, async (opened) => {
        const values = parsed(opened, given, false)
        await checkReferences(access, opened, { rows: [{ ...values, id }], placeOf: () => wholeBody }, meta)
        const columns = Object.keys(values)
        if (columns.length === 0)
          return access.commit([opened], meta, (tx) =>
            explain(opened, id, meta, (looked) => runStatement(tx, looked)),
          )
        return validated(opened, { id, operation: 'update', values }, meta, (version) =>
          commitOne(
            opened,
            meta,
            one((target) => updateStatement(target, { columns, rows: [{ ...values, id, version }] })),
            async (updated, look) => {
              const [row] = assertAllowed(updated)
              if (row) return row
              const there = await explain(opened, id, meta, look)
              if (isRaced(there, version, meta)) throw new StaleValidationError()
              if (opened.writeRule.length > 0) throw ruleForbidsError()
              return there
            },
          ),
        ).catch(createRefusalHandler(access, opened, { path: '', values }))
      }),

    delete: (slug, id, meta) =>
      withTable(slug, meta, async (opened) => {
        await validated(opened, { id, operation: 'delete', values: {} }, meta, (version) =>
          commitOne(
            opened,
            meta,
            one((target) => deleteStatement(target, [{ id, version }])),
            async (deleted, look) => {
              if (deleted.length > 0) return
              const there = await explain(opened, id, meta, look)
              if (isRaced(there, version, meta)) throw new StaleValidationError()
              throw ruleForbidsError()
            },
          ),
        ).catch(createRefusalHandler(access, opened, { path: '', values: {} }))
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

function parsed({ table }: ResolvedTable, given: unknown, isNew: boolean): Values {
  const problems = new Problems()
  const values = readRecord(table, given, { place: wholeBody, problems, isNew })
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
