import { ApiError, newId, notFound } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from '../row/conditions.js'
import { isOutdated } from '../row/failures.js'
import { readRecord, type Values } from '../row/input.js'
import { type Look, type OneStatement, type RecordAccess, run } from '../row/open.js'
import type { Opened, Row } from '../row/opened.js'
import { Parameters, type Statement } from '../row/parameters.js'
import { type Place, Problems } from '../row/problems.js'
import { checkReferences } from '../row/references.js'
import type { ShownQuery } from '../row/selected.js'
import { failingRead, selectionOf } from '../row/selected.js'
import { type Selection, selectList, wholeOf } from '../row/selection.js'
import { deleteStatement, insertStatement, marks, updateStatement } from '../row/write-statements.js'
import { changed } from '../validation/images.js'
import { RacedValidation, untilUnraced } from '../validation/raced.js'
import type { Validating } from '../validation/validating.js'
import { refusedRow } from './refused-row.js'

const wholeBody: Place = { in: 'body', path: '' }

/** Single records. */
export interface Records {
  create(slug: string, given: unknown, meta: RequestMeta): Promise<Row>
  get(slug: string, id: string, query: ShownQuery, meta: RequestMeta): Promise<Row>
  /** Whether a record that was got changes only with its version: what a reference leads to does not, nor does the definition. */
  isSettled(record: Row): boolean
  update(slug: string, id: string, given: unknown, meta: RequestMeta): Promise<Row>
  delete(slug: string, id: string, meta: RequestMeta): Promise<void>
}

export function createRecords(access: RecordAccess, validating: Validating): Records {
  const { withTable, commitOne, insert, read } = access
  const settled = new WeakSet<Row>()

  /** Why a change of one record has changed none: the record as the caller may see it. Throws `not_found`. */
  const explain = async (
    { space, table, readRule }: Opened,
    id: string,
    meta: RequestMeta,
    look: Look,
  ): Promise<Row> => {
    const [row] = await look(getStatement(wholeOf(table, readRule), id, space.schema))
    if (!row) throw notFound()
    if (meta.expectedVersion !== undefined && row.version !== meta.expectedVersion) throw preconditionFailed()
    return row
  }

  /** Writes by the version that validations have seen, where there are any; otherwise by that of If-Match. */
  const validated = async <T>(
    opened: Opened,
    { id, operation, values }: { id: string; operation: 'update' | 'delete'; values: Values },
    meta: RequestMeta,
    write: (version: number | null) => Promise<T>,
  ): Promise<T> => {
    if (!validating.concerns(opened, [operation])) return write(meta.expectedVersion ?? null)
    return untilUnraced(async () => {
      const before = await explain(opened, id, meta, (looked) => read(opened.space, looked))
      const after = operation === 'update' ? changed(opened.table, before, values) : null
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
              (inserted) => theOne(onlyAllowed(inserted)),
            )
        return inserting.catch(failing(access, opened, { path: '', values }))
      }),

    get: (slug, id, query, meta) =>
      withTable(slug, meta, async (opened) => {
        const { space } = opened
        const selection = await selectionOf(access, opened, query, meta)
        const statement = getStatement(selection, id, space.schema)
        const [row] = await read(space, statement).catch(failingRead)
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
          return access.commit([opened], meta, (tx) => explain(opened, id, meta, (looked) => run(tx, looked)))
        return validated(opened, { id, operation: 'update', values }, meta, (version) =>
          commitOne(
            opened,
            meta,
            one((target) => updateStatement(target, { columns, rows: [{ ...values, id, version }] })),
            async (updated, look) => {
              const [row] = onlyAllowed(updated)
              if (row) return row
              const there = await explain(opened, id, meta, look)
              if (isRaced(there, version, meta)) throw new RacedValidation()
              if (opened.writeRule.length > 0) throw forbidden()
              return there
            },
          ),
        ).catch(failing(access, opened, { path: '', values }))
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
              if (isRaced(there, version, meta)) throw new RacedValidation()
              throw forbidden()
            },
          ),
        ).catch(failing(access, opened, { path: '', values: {} }))
      }),
  }
}

/** Whether a record is another one than was validated, which nobody but the platform has named the version of. */
const isRaced = ({ version: present }: Row, version: number | null, meta: RequestMeta) =>
  meta.expectedVersion === undefined && version !== null && present !== version

const one = (of: OneStatement['of']): OneStatement => ({ count: 1, of })

function theOne([row]: Row[]): Row {
  if (!row) throw new Error('a record was written and not answered')
  return row
}

function parsed({ table }: Opened, given: unknown, isNew: boolean): Values {
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

/** The written records without their marks. Throws `forbidden` where the caller's rule does not allow one of them. */
export function onlyAllowed(rows: Row[]): Row[] {
  for (const row of rows) {
    if (!(marks.allowed in row)) continue
    if (row[marks.allowed] !== true) throw forbidden()
    delete row[marks.allowed]
  }
  return rows
}

export const forbidden = () =>
  new ApiError('forbidden', 'A rule of this table does not let you write such a record.')

export const preconditionFailed = () =>
  new ApiError('precondition_failed', 'The record has changed since the version in If-Match.')

/** Rethrows what Postgres refused in the words of the API; an outdated definition is for `withTable`. */
export const failing =
  (access: Pick<RecordAccess, 'read'>, opened: Opened, written: { path: string; values: Values }) =>
  async (error: unknown): Promise<never> => {
    throw isOutdated(error) ? error : await refusedRow(access, opened, written, error)
  }
