import {
  ApiError,
  type ErrorDetail,
  notFound,
  type ParameterType,
  type QueryParameter,
  ResultType,
  type RunSavedQuery,
  type SavedQuery,
  SavedQueryState,
  type TenantScope,
} from '@opsplane/contracts'
import { type Database, parameterText } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { sqlType } from '../row/fields.js'
import { numberParameters } from '../sql/parameters.js'
import { checkQuery } from '../sql/statement.js'
import type { QueryRequest } from './run.js'

type Wording = Pick<SavedQueryState, 'sql' | 'mode' | 'parameters'>

/** Throws `validation_failed` unless the SQL is allowed in its mode and uses exactly the declared parameters. */
export async function checkSavedQuery(
  { sql: text, mode, parameters }: Wording,
  database: Pick<Database, 'sql'>,
): Promise<void> {
  const { names, count, masked } = await numberParameters(text, typesOf(parameters))
  await checkQuery(masked, mode)
  if (count > names.length)
    throw invalidQueryError([detail('/sql', 'numbered', 'must name its parameters, as in :name')])
  const declared = parameters.map(({ name }) => name)
  const twice = declared.filter((name, index) => declared.indexOf(name) !== index)
  const problems = [
    ...twice.map((name) => detail('/parameters', 'duplicate', `declares ${name} twice`)),
    ...names
      .filter((name) => !declared.includes(name))
      .map((name) => detail('/sql', 'undeclared', `takes :${name}, which is not declared`)),
    ...declared
      .filter((name) => !names.includes(name))
      .map((name) => detail('/parameters', 'unused', `declares ${name}, which the SQL does not take`)),
  ]
  problems.push(...(await unreadableDefaults(parameters, database)))
  if (problems.length > 0) throw invalidQueryError(problems)
}

/**
 * Defaults that Postgres cannot parse as their types. Otherwise users of the query would
 * get the error and could not fix it.
 */
async function unreadableDefaults(
  parameters: readonly QueryParameter[],
  { sql }: Pick<Database, 'sql'>,
): Promise<ErrorDetail[]> {
  const problems = await Promise.all(
    parameters.map(async ({ type, default: value }, index) => {
      if (value === undefined || value === null) return []
      const isList = Array.isArray(value)
      const fits =
        type === 'json' || (isList ? type.endsWith('[]') : typeof value !== 'object' && !type.endsWith('[]'))
      const [row] = fits
        ? await sql.unsafe('select reads_as($1::text, $2::text) as reads', [
            parameterText(value, type),
            readAs(type),
          ])
        : []
      return row?.reads === true
        ? []
        : [detail(`/parameters/${index}/default`, 'invalid_value', `must be ${type}`)]
    }),
  )
  return problems.flat()
}

/** A parameter type in the notation of `reads_as`. */
const readAs = (type: ParameterType): string =>
  type.replace(/^\w+/, (name) => sqlType({ kind: ResultType.parse(name) }))

/** The request that runs a saved query with these values. Throws `validation_failed` if a value is missing. */
export function buildRequest(
  query: Wording,
  { parameters: given, maxRows, timeoutMs, explain }: RunSavedQuery,
): QueryRequest {
  const values = { ...given }
  for (const { name, required, default: value } of query.parameters) {
    if (Object.hasOwn(values, name)) continue
    if (required && value === undefined)
      throw invalidQueryError([detail(`/parameters/${name}`, 'required', `${name} has no value`)])
    values[name] = value ?? null
  }
  const { sql: text, mode } = query
  return {
    sql: text,
    mode,
    parameters: values,
    types: typesOf(query.parameters),
    maxRows,
    timeoutMs,
    explain,
  }
}

const typesOf = (parameters: readonly QueryParameter[]): Record<string, ParameterType> =>
  Object.fromEntries(parameters.map(({ name, type }) => [name, type]))

const invalidQueryError = (details: ErrorDetail[]) =>
  new ApiError('validation_failed', 'The query is not valid.', { details })

const detail = (path: string, code: string, message: string): ErrorDetail => ({
  in: 'body',
  path,
  code,
  message,
})

const Version = z.object({ version: z.number(), state: SavedQueryState })

/** The versions of saved queries, read from the log. */
export function savedVersions({ database: { db }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>) {
  const read = async (id: string, tenant: TenantScope, bound: ReturnType<typeof sql>, limit: number) => {
    const rows = await db.execute(sql`
      select version, data->'after' as state from events
      where stream_id = ${id} and stream_type = 'saved_queries' and workspace_id = ${tenant.workspaceId}
        and environment = ${tenant.environment} and type <> 'query.deleted' and ${bound}
      order by version desc limit ${limit}`)
    return z
      .array(Version)
      .parse([...rows])
      .map(({ version, state }): SavedQuery => ({ ...state, version }))
  }
  return {
    /** Throws not_found. */
    async get(id: string, version: number, tenant: TenantScope): Promise<SavedQuery> {
      const [found] = await read(id, tenant, sql`version = ${version}::bigint`, 1)
      if (!found) throw notFound()
      return found
    },
    /** Latest first. */
    async list(
      id: string,
      page: { limit: number; after?: string | undefined; binding: string },
      tenant: TenantScope,
    ) {
      const { limit, after, binding } = page
      const scope = `${tenant.workspaceId}|${tenant.environment}|${binding}`
      const [before] = after === undefined ? [] : z.tuple([z.number()]).parse(cursors.decode(after, scope))
      const bound = before === undefined ? sql`true` : sql`version < ${before}`
      const rows = await read(id, tenant, bound, limit + 1)
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      return { items, limit, nextCursor: last ? cursors.encode([last.version], scope) : null }
    },
  }
}
