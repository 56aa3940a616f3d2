import { ApiError } from '@opsplane/contracts'
import { type ListPage, type RequestMeta, readJsonText } from '@opsplane/http'
import { tenantBinding } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { isUnreadable, readFailure } from '../row/failures.js'
import { type Condition, readFilter } from '../row/filter.js'
import { type Place, Problems } from '../row/problems.js'
import type { RecordAccess } from '../row/record-access.js'
import type { Caller, ResolvedTable, Row } from '../row/resolved-table.js'
import { resolveSelection, type ShownQuery } from '../row/shown-query.js'
import { parseExpectedRows } from '../row/table-size.js'
import { findAccessPath, hasTrigrams } from './access-path.js'
import { countStatement, estimateStatement, type ListRequest, listStatement } from './list-statement.js'
import { buildSearchCondition } from './search.js'
import { extractPosition, foreignCursorError, parsePosition, readSort } from './sort.js'

/**
 * Maximum number of records for a list without an index. Lists of larger tables must be
 * served by an index or set `slow=true`.
 */
export const smallTable = 50_000

export interface ListQuery extends ShownQuery {
  filter?: string | undefined
  timeZone?: string | undefined
  sort?: string | undefined
  q?: string | undefined
  count?: 'estimated' | 'exact' | undefined
  slow?: boolean | undefined
  limit: number
  after?: string | undefined
}

const sortPlace: Place = { in: 'query', path: '/sort' }

/** Lists of records in their current state. */
export function createRecordList({ access, cursors }: { access: RecordAccess; cursors: CursorCodec }) {
  const page = async (resolvedTable: ResolvedTable, query: ListQuery, binding: string, meta: RequestMeta) => {
    const { limit, after } = query
    const resolvedList = await resolveListRequest(access, resolvedTable, query, meta)
    const bound = tenantBinding(meta.tenant, binding)
    const position = after === undefined ? undefined : parsePosition(cursors, after, bound, resolvedList.sort)
    const [{ rows, isCut }, total] = await Promise.all([
      access.readPage(
        resolvedTable.space,
        listStatement({ ...resolvedList, after: position, limit: limit + 1 }),
      ),
      totalOf(access, resolvedTable, resolvedList, query.count),
    ]).catch((error: unknown) => {
      throw position && isUnreadable(error) ? foreignCursorError(error) : readFailure(error)
    })
    const items = rows.slice(0, limit)
    const last = items.map((row) => extractPosition(row, resolvedList.sort)).at(-1)
    const nextCursor = last && (isCut || rows.length > limit) ? cursors.encode([...last], bound) : null
    return { items, nextCursor, limit, ...total }
  }

  return (slug: string, query: ListQuery, binding: string, meta: RequestMeta): Promise<ListPage<Row>> =>
    access.withTable(slug, meta, (resolvedTable) => page(resolvedTable, query, binding, meta))
}

type ResolvedList = Omit<ListRequest, 'after' | 'limit'>

/** Resolves all parameters of a list request. Throws if one is invalid or the list would be too slow. */
export async function resolveListRequest(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  query: ShownQuery & Pick<ListQuery, 'filter' | 'timeZone' | 'sort' | 'q' | 'slow'>,
  meta: Caller,
): Promise<ResolvedList> {
  const { table, readRule, space } = resolvedTable
  const problems = new Problems()
  const filterConditions = readFilterText(resolvedTable, query.filter, problems, query.timeZone)
  const sort = readSort(table, query.sort, sortPlace, problems)
  problems.check()
  const selection = await resolveSelection(access, resolvedTable, query, meta)
  const { q } = query
  const conditions = await findable(access, resolvedTable, filterConditions)
  const found = findAccessPath(table, { conditions: [...conditions, ...readRule], sort, q })
  if (!found.served && !query.slow) await refuseLarge(access, resolvedTable, found.advice)
  const search = q === undefined ? undefined : buildSearchCondition(table, q)
  return { selection, schema: space.schema, conditions, sort, access: found, ...(search && { search }) }
}

/**
 * No index covers texts without their accents. On a large table the condition is rewritten so that accents count and an
 * index can be used.
 */
async function findable(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  conditions: readonly Condition[],
): Promise<readonly Condition[]> {
  const isMatched = conditions.some(({ kind }) => kind === 'matches')
  if (!isMatched || (await access.sizeOf(resolvedTable)) <= smallTable) return conditions
  return conditions.map((each): Condition => {
    if (each.kind !== 'matches') return each
    const { field, value } = each
    const isRange = each.atStart && !hasTrigrams(resolvedTable.table, field.column)
    return isRange ? { kind: 'starts_with', field, value } : { ...each, byIndex: true }
  })
}

/** Parses the JSON filter of a query string, within the size limits of a request body. */
export function readFilterText(
  { table }: ResolvedTable,
  filterText: string | undefined,
  problems: Problems,
  timeZone?: string,
): Condition[] {
  if (filterText === undefined) return []
  let filter: unknown
  try {
    filter = readJsonText(filterText)
  } catch (error) {
    const noJson = { path: '', code: 'invalid_format', message: 'must be JSON, such as {"status":"new"}' }
    const [{ path, code, message } = noJson] = error instanceof ApiError ? error.details : []
    problems.add({ in: 'query', path: `/filter${path}` }, code, message)
    return []
  }
  return readFilter(table, filter, { in: 'query', path: '/filter' }, problems, timeZone)
}

async function refuseLarge(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  advice: string,
): Promise<void> {
  const rows = await access.sizeOf(resolvedTable)
  if (rows <= smallTable) return
  const size = resolvedTable.readRule.length === 0 ? `, which has about ${rows} records,` : ''
  const message = `No index of ${resolvedTable.table.slug}${size} supports this filter and order. ${advice} Or set slow=true.`
  throw new ApiError('validation_failed', message, {
    details: [{ in: 'query', path: '/slow', code: 'needs_index', message: advice }],
  })
}

async function totalOf(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  resolvedList: ResolvedList,
  count: ListQuery['count'],
): Promise<{ total?: number }> {
  if (count === undefined) return {}
  const isWhole = resolvedList.conditions.length === 0 && !resolvedList.search
  // Postgres's estimate covers all records: a caller who may see only some could infer values of the others from it.
  if (count === 'estimated' && resolvedTable.readRule.length === 0) {
    if (isWhole) return { total: await access.sizeOf(resolvedTable) }
    const [plan] = await access.read<object>(resolvedTable.space, estimateStatement(resolvedList))
    return { total: parseExpectedRows(plan) }
  }
  const [counted] = await access.read<{ count: string }>(resolvedTable.space, countStatement(resolvedList))
  return { total: Number(counted?.count ?? 0) }
}
