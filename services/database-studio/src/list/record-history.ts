import { type Instant, notFound, RecordChange, type StudioRecord } from '@opsplane/contracts'
import type { ListPage, RequestMeta } from '@opsplane/http'
import { isoText, quoteIdentifier, tenantBinding, translatePostgresError } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { Sql } from 'postgres'
import { z } from 'zod'
import { conditionsSql, findFields } from '../row/conditions.js'
import { type Field, sqlType } from '../row/fields.js'
import type { Condition } from '../row/filter.js'
import { Parameters, type Statement } from '../row/parameters.js'
import { Problems } from '../row/problems.js'
import type { RecordAccess } from '../row/record-access.js'
import type { ResolvedTable } from '../row/resolved-table.js'
import { type ListQuery, readFilterText } from './list.js'

/** Past states of records, read from the journal. Includes records that have since been deleted. */
export interface RecordHistory {
  get(slug: string, id: string, asOf: Instant, meta: RequestMeta): Promise<StudioRecord>
  list(
    slug: string,
    query: ListQuery & { asOf: Instant },
    binding: string,
    meta: RequestMeta,
  ): Promise<ListPage<StudioRecord>>
  /** Changes of one record, latest first. */
  history(
    slug: string,
    id: string,
    page: { limit: number; after?: string | undefined; binding: string },
    meta: RequestMeta,
  ): Promise<ListPage<RecordChange>>
}

/** Maximum records that one page of a past state scans. */
const maxScannedRecords = 5_000
/** Maximum bytes of a page's records as JSON. The page ends with the record that reaches it. */
const pageBytes = 8_388_608

/** The stream id of a record in the journal. With an empty record id: the prefix of all streams of the table. */
export const toStreamId = ({ table }: Pick<ResolvedTable, 'table'>, id: string): string => `${table.id}/${id}`

export function createRecordHistory({
  access,
  sql,
  cursors,
}: {
  access: RecordAccess
  sql: Sql
  cursors: CursorCodec
}): RecordHistory {
  const query = async <Schema extends z.ZodType>(schema: Schema, { text, parameters }: Statement) => {
    try {
      return z.array(schema).parse([...(await sql.unsafe(text, [...parameters], { prepare: true }))])
    } catch (error) {
      throw translatePostgresError(error)
    }
  }

  const isSeen = async ({ space, table, readRule }: ResolvedTable, id: string): Promise<boolean> => {
    const parameters = new Parameters()
    const where = `r.id = ${parameters.bind(id, 'text')} and ${conditionsSql(readRule, 'r', parameters)}`
    const text = `select from ${quoteIdentifier(space.schema)}.${quoteIdentifier(table.slug)} r where ${where}`
    return (await access.read(space, { text, parameters: parameters.values })).length > 0
  }

  return {
    async get(slug, id, asOf, meta) {
      const resolvedTable = await access.open(slug, meta)
      const [row] = await query(
        Shown,
        pastStatement(resolvedTable, asOf, resolvedTable.readRule, { only: id }),
      )
      if (!row) throw notFound()
      return shown(row.record)
    },

    async list(slug, { asOf, ...asked }, binding, meta) {
      const resolvedTable = await access.open(slug, meta)
      const { conditions, descending } = readPast(resolvedTable, asked)
      const bound = tenantBinding(meta.tenant, binding)
      const { limit, after } = asked
      const from = after === undefined ? undefined : After.parse(cursors.decode(after, bound))[0]
      const where = [...conditions, ...resolvedTable.readRule]
      const rows = await query(Walked, pastStatement(resolvedTable, asOf, where, { from, descending, limit }))
      const items = rows.flatMap(({ record }) => (record ? [shown(record)] : []))
      const last = rows.at(-1)
      const more =
        last !== undefined && (last.isCut || items.length === limit || last.walked === maxScannedRecords)
      return { items, nextCursor: more ? cursors.encode([last.id], bound) : null, limit }
    },

    async history(slug, id, { limit, after, binding }, meta) {
      const resolvedTable = await access.open(slug, meta)
      const bound = tenantBinding(meta.tenant, binding)
      const before = after === undefined ? null : Before.parse(cursors.decode(after, bound))[0]
      const rows = await query(Logged, historyStatement(resolvedTable, id, before, limit + 1))
      // A migration may have changed the columns so that the past states are hidden from the
      // caller but the current one is not.
      if (rows.length === 0 && before === null && !(await isSeen(resolvedTable, id))) throw notFound()
      const page = rows.slice(0, limit)
      const last = (rows[0]?.found ?? 0) > page.length ? page.at(-1) : undefined
      return {
        items: page.map(changeOf),
        nextCursor: last ? cursors.encode([last.version], bound) : null,
        limit,
      }
    },
  }
}

const After = z.tuple([z.string()])
const Before = z.tuple([z.number()])
const Json = z.record(z.string(), z.unknown())
const Shown = z.object({ record: Json })
const Walked = z.object({ id: z.string(), record: Json.nullable(), walked: z.number(), isCut: z.boolean() })
const Logged = z.object({
  id: z.string(),
  version: z.number(),
  type: RecordChange.shape.type,
  at: z.string(),
  actor: RecordChange.shape.actor,
  requestId: z.string().nullable(),
  changes: z.array(z.string()),
  before: Json.nullable(),
  after: Json.nullable(),
  /** Number of rows found for the page, plus one, before rows are dropped for their size. */
  found: z.number(),
})

/** A journal record in its API representation. */
const shown = ({ tableSlug: _, ...record }: Record<string, unknown>) => record as StudioRecord

/** A side of the change that the caller may not see is omitted. */
function changeOf({ version: _, found: __, before, after, ...change }: z.infer<typeof Logged>): RecordChange {
  return { ...change, before: before && shown(before), after: after && shown(after) }
}

/** The supported subset of a list query for a past state: a filter, and an order by id. */
function readPast(
  resolvedTable: ResolvedTable,
  query: ListQuery,
): { conditions: Condition[]; descending: boolean } {
  const problems = new Problems()
  const refuse = (name: string, message: string) =>
    problems.add({ in: 'query', path: `/${name}` }, 'invalid_value', message)
  for (const name of ['q', 'count', 'fields', 'expand'] as const)
    if (query[name] !== undefined) refuse(name, 'cannot be combined with asOf')
  const sort = query.sort ?? '-id'
  if (sort !== 'id' && sort !== '-id') refuse('sort', 'can only be id or -id with asOf')
  const conditions = readFilterText(resolvedTable, query.filter, problems, query.timeZone)
  problems.check()
  return { conditions, descending: sort === '-id' }
}

interface Walk {
  only?: string
  from?: string | undefined
  descending?: boolean
  limit?: number
}

/**
 * Records that satisfied the conditions at an instant, by the current definition. The streams of a table are one
 * journal range in the order of ids; the last event before the instant is used for each. Without `only`, the last row
 * states how far the scan got.
 */
function pastStatement(
  resolvedTable: ResolvedTable,
  asOf: Instant,
  conditions: readonly Condition[],
  { only, from, descending = false, limit = 1 }: Walk,
): Statement {
  const parameters = new Parameters()
  const { space } = resolvedTable
  const tenant = `workspace_id = ${parameters.bind(space.workspaceId, 'text')} and environment = ${parameters.bind(space.environment, 'text')}`
  const instant = parameters.bind(asOf, 'timestamptz')
  const last = `select e.data->'after' as after from events e where e.stream_id = head.stream_id and e.${tenant.replace(' and ', ' and e.')}
    and e.created_at <= ${instant} order by e.version desc limit 1`
  const record = rowOf(`case when json_typeof(last.after) = 'object' then last.after end`, conditions)
  const matchCondition = conditionsSql(conditions, 'r', parameters)
  if (only !== undefined) {
    const stream = parameters.bind(toStreamId(resolvedTable, only), 'text')
    return {
      text: `select last.after as record from (select ${stream} as stream_id) head cross join lateral (${last}) last
        cross join lateral ${record} where json_typeof(last.after) = 'object' and ${matchCondition}`,
      parameters: parameters.values,
    }
  }
  const prefix = toStreamId(resolvedTable, '')
  const [low, high] = [prefix, `${prefix.slice(0, -1)}0`]
  const position = from === undefined ? undefined : toStreamId(resolvedTable, from)
  const [lower, upper] = descending ? [low, position ?? high] : [position ?? low, high]
  const range = `stream_id > ${parameters.bind(lower, 'text')} and stream_id < ${parameters.bind(upper, 'text')}`
  const direction = descending ? 'desc' : 'asc'
  const maxScanned = parameters.bind(String(maxScannedRecords), 'int8')
  const rows = parameters.bind(String(limit), 'int8')
  return {
    text: `with heads as materialized (
        select stream_id, row_number() over (order by stream_id ${direction})::int4 as walked from (
          select stream_id from events where ${range} and version = 1 and created_at <= ${instant} and ${tenant} order by stream_id ${direction} limit ${maxScanned}) walk
      ), found as (
        select head.stream_id, head.walked, last.after from heads head cross join lateral (${last}) last
        cross join lateral ${record} where json_typeof(last.after) = 'object' and ${matchCondition}
        order by head.walked limit ${rows}
      ), sized as (
        select *, ${precedingBytes('octet_length(after::text)', 'walked')} as preceding from found
      ), cut as (select coalesce(max(preceding) >= ${pageBytes}, false) as is_cut from sized)
      select substr(stream_id, ${prefix.length + 1}) as id, after as record, walked, is_cut as "isCut" from sized, cut
      where preceding < ${pageBytes}
      union all
      select substr(stream_id, ${prefix.length + 1}), null, walked, false from heads, cut
      where walked = ${maxScanned} and (select count(*) from found) < ${rows} and not is_cut
      order by walked`,
    parameters: parameters.values,
  }
}

/** SQL for the total bytes of the preceding rows, in the given order. */
const precedingBytes = (bytes: string, order: string): string =>
  `sum(${bytes}) over (order by ${order} rows unbounded preceding) - (${bytes})`

/** Formats a JSON array as Postgres prints its own. */
const listText = (value: string): string =>
  `case when json_typeof(${value}) = 'array' then array(select json_array_elements_text(${value}))::text else ${value}::text end`

/**
 * Statement for those events of a record of which the caller may see at least one side; a
 * side they may not see is null.
 */
function historyStatement(
  resolvedTable: ResolvedTable,
  id: string,
  before: number | null,
  limit: number,
): Statement {
  const parameters = new Parameters()
  const { space, readRule } = resolvedTable
  const seen = (side: 'before' | 'after') => {
    const json = `data->'${side}'`
    const ruleCondition = conditionsSql(readRule, 'r', parameters)
    const shown =
      readRule.length === 0 ? json : `(select ${json} from ${rowOf(json, readRule)} where ${ruleCondition})`
    return `case when json_typeof(${json}) = 'object' then ${shown} end`
  }
  const [earlier, later] = [seen('before'), seen('after')]
  const bytes = 'coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)'
  const version = parameters.bind(before === null ? null : String(before), 'int4')
  return {
    text: `select * from (
      select *, ${precedingBytes(bytes, 'version desc')} as preceding, (count(*) over ())::int4 as found from (
      select * from (
      select id, version, type, ${isoText('created_at')} as at, actor,
        request_id as "requestId", data->'changes' as changes, ${earlier} as before, ${later} as after
      from (select * from events where stream_id = ${parameters.bind(toStreamId(resolvedTable, id), 'text')}
        and workspace_id = ${parameters.bind(space.workspaceId, 'text')} and environment = ${parameters.bind(space.environment, 'text')}
        and (${version} is null or version < ${version})) logged) seen
      where before is not null or after is not null
      order by version desc limit ${parameters.bind(String(limit), 'int8')}) shown) sized
      where preceding < ${pageBytes} order by version desc`,
    parameters: parameters.values,
  }
}

/**
 * A journal record as a row `r` with only the columns used by the conditions, since other columns may not have existed
 * or may have had another type then. If a column of a condition had another type and its value cannot be converted to
 * the current type, there is no row, so no condition is satisfied.
 */
function rowOf(json: string, conditions: readonly Condition[]): string {
  const fields = [...new Set(findFields(conditions))]
  if (fields.length === 0) return '(select) r'
  const isJson = ({ kind }: Field) => kind === 'json' || kind === 'array'
  const columnDefinitions = fields.map(
    (field) => `${quoteIdentifier(field.name)} ${isJson(field) ? 'json' : 'text'}`,
  )
  const checks: string[] = []
  const selectExpressions = fields.map((field) => {
    const { name, column, kind } = field
    const value = `x.${quoteIdentifier(name)}`
    const text = kind === 'array' ? listText(value) : `${value}::text`
    const type = sqlType(field)
    if (type === 'text') return `${text} as ${quoteIdentifier(column)}`
    const readable = `reads_as(${text}, '${type}')`
    checks.push(`${readable} is not false`)
    return `case when ${readable} then ${text}::${type} end as ${quoteIdentifier(column)}`
  })
  const where = checks.length === 0 ? '' : ` where ${checks.join(' and ')}`
  return `(select ${selectExpressions.join(', ')} from json_to_record(${json}) as x(${columnDefinitions.join(', ')})${where}) r`
}
