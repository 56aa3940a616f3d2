import { stringifyExact } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from '../row/conditions.js'
import { comparedType } from '../row/fields.js'
import type { Condition } from '../row/filter.js'
import { Parameters, type Statement } from '../row/parameters.js'
import { type Selection, selectList } from '../row/selection.js'
import type { AccessPath } from './access-path.js'
import { orderBy, type Position, positionList, rangesAfterPosition, type SortTerm } from './sort.js'

export interface ListRequest {
  selection: Selection
  /** Schema of the space. */
  schema: string
  conditions: readonly Condition[]
  /** Additional SQL condition on the row `r`, such as a search; it binds its own parameters. */
  search?: ((row: string, parameters: Parameters) => string) | undefined
  sort: readonly SortTerm[]
  after?: Position | undefined
  access: AccessPath
  /** Maximum rows. */
  limit: number
}

const row = 'r'

/**
 * The statement for one page. If the cursor position is not a single index range, or a column has several values, each
 * range or value gets one ordered and limited scan, and the scans are merged: none reads more than a page.
 */
export function listStatement(request: ListRequest): Statement {
  const { selection, schema, sort, limit } = request
  const parameters = new Parameters()
  const list = `${selectList(selection, row, schema, parameters)}, ${positionList(sort, row)}`
  const order = orderBy(sort, row)
  const rows = parameters.bind(String(limit), 'int8')
  const from = `${quoteIdentifier(schema)}.${quoteIdentifier(selection.table.slug)}`
  const scans = scansOf(request, parameters)
  const { each, prefix = [] } = request.access.served ? request.access : {}
  const fixed = prefix.map(
    ({ column, descending }) => `${row}.${quoteIdentifier(column)}${descending ? ' desc' : ''}, `,
  )
  const scanOrder = `${fixed.join('')}${order}`
  const [only] = scans
  if (scans.length === 1 && only !== undefined && !each)
    return {
      text: `select ${list} from ${from} ${row} where ${only} order by ${scanOrder} limit ${rows}`,
      parameters: parameters.values,
    }
  const parts = scans.map((where) => {
    const scan = (further: string) =>
      `select ${row}.* from ${from} ${row} where ${further}${where} order by ${scanOrder} limit ${rows}`
    if (!each) return `(${scan('')})`
    const { column } = each.field
    const bind = (elements: readonly unknown[]) => parameters.bind(stringifyExact(elements), 'json')
    const type = comparedType(each.field)
    // Different spellings of a value may be equal, and would be looked up twice.
    const values = type
      ? `(select distinct value::${type} as value from json_array_elements_text(${bind(each.values)}) as given(value)) as each`
      : `(select ${quoteIdentifier(column)} as value from json_populate_recordset(null::${from}, ${bind(each.values.map((value) => ({ [column]: value })))})) as each`
    return `(select part.* from ${values} cross join lateral (${scan(`${row}.${quoteIdentifier(each.field.column)} = each.value and `)}) part)`
  })
  return {
    text: `select ${list} from (${parts.join(' union all ')}) ${row} order by ${order} limit ${rows}`,
    parameters: parameters.values,
  }
}

/** The condition of each scan: the whole filter and one of the ranges after the position. */
function scansOf(request: ListRequest, parameters: Parameters): string[] {
  const where = whereSql(request, parameters)
  if (request.after === undefined) return [where]
  return rangesAfterPosition(request.sort, request.after, row, parameters).map(
    (range) => `${where} and ${range}`,
  )
}

/** All conditions on a listed record, including the caller's row rule. */
function whereSql(
  request: Pick<ListRequest, 'selection' | 'conditions' | 'search' | 'access'>,
  parameters: Parameters,
) {
  const { selection, conditions, search, access } = request
  const each: Condition | undefined = access.served ? access.each : undefined
  const where = conditionsSql(
    [...conditions, ...selection.rule].filter((condition) => condition !== each),
    row,
    parameters,
  )
  return search ? `${where} and ${search(row, parameters)}` : where
}

/** Counts the records; with `maxCount`, at most that many. */
export function countStatement(
  request: Omit<ListRequest, 'sort' | 'after' | 'limit'>,
  maxCount?: number,
): Statement {
  const parameters = new Parameters()
  const where = whereSql({ ...request, access: { served: true } }, parameters)
  const from = `${quoteIdentifier(request.schema)}.${quoteIdentifier(request.selection.table.slug)} ${row}`
  const bound = maxCount === undefined ? '' : ` limit ${parameters.bind(String(maxCount), 'int8')}`
  return {
    text:
      maxCount === undefined
        ? `select count(*)::text as count from ${from} where ${where}`
        : `select count(*)::text as count from (select from ${from} where ${where}${bound}) counted`,
    parameters: parameters.values,
  }
}

/** Postgres's estimate of the number of records, from EXPLAIN. */
export function estimateStatement(request: Omit<ListRequest, 'sort' | 'after' | 'limit'>): Statement {
  const parameters = new Parameters()
  const where = whereSql({ ...request, access: { served: true } }, parameters)
  const from = `${quoteIdentifier(request.schema)}.${quoteIdentifier(request.selection.table.slug)} ${row}`
  return { text: `explain (format json) select from ${from} where ${where}`, parameters: parameters.values }
}
