import type { Page } from '@opsplane/contracts'
import { canonicalJson, pageBounds } from '@opsplane/contracts'
import { z } from 'zod'
import { type Contract, commonFields, type PathSchema, type RequestMeta, type Route } from './route.js'
import { withTimeZone } from './zoned-days.js'

export interface Sort<Field extends string = string> {
  field: Field
  direction: 'asc' | 'desc'
}

type SortField<Sorts extends readonly string[]> = Sorts[number] extends infer Name
  ? Name extends `-${infer Field}`
    ? Field
    : Name
  : never

/** A page whose `hasMore` may differ from "there is a next cursor", for logs that are read continuously. */
export interface ListPage<T> extends Page<T> {
  hasMore?: boolean
  /** Number of items on all pages, if it was requested. */
  total?: number
}

export interface ListContract<
  Path extends string,
  Item extends z.ZodType,
  Sorts extends readonly string[],
  Params extends z.ZodObject,
  Query extends z.ZodObject,
> extends Omit<Contract<Path>, 'method' | 'bodyLimitBytes'> {
  method?: 'get'
  params?: Params
  /** The filters; `limit`, `after` and `sort` are added. */
  query?: Query
  /**
   * Fields to sort by, each in both directions. The first entry, in its direction, is the default; with `asOf` the
   * default is the one by creation. Default: `-createdAt`. If empty, there is no `sort` except one declared in `query`.
   */
  sorts?: Sorts
  /** Schema of one item. */
  response: Item
  handler(input: {
    params: z.output<Params>
    query: z.output<Query> & {
      limit: number
      after?: string
      sort: Sort<SortField<Sorts> & string>
    }
    /** Identifies the list with its path, filters and sort; cursors are bound to it. */
    binding: string
    meta: RequestMeta
  }): Promise<ListPage<z.input<Item>>>
}

/** A list with keyset paging. Its handler returns a Page; the envelope gets `pagination`. */
export function defineList<
  const Path extends string,
  Item extends z.ZodType,
  const Sorts extends readonly string[] = readonly ['-createdAt'],
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(contract: ListContract<Path, Item, Sorts, Params, Query>): Route {
  const sorts = contract.sorts ?? ['-createdAt']
  const handler: ErasedListHandler = contract
  return {
    ...commonFields({ ...contract, method: 'get' }),
    kind: 'list',
    params: contract.params,
    query: listQuery(contract.query ?? z.object({}), sorts),
    body: undefined,
    response: contract.response,
    status: 200,
    bare: false,
    changesUnversioned: false,
    idempotency: 'none',
    ifMatch: false,
    handler: (input) => {
      const listQuery = input.query as ListQuery
      // A list without `sorts` may interpret its own `sort` parameter itself.
      const sort = sorts.length === 0 ? undefined : (listQuery.sort ?? defaultSort(sorts, listQuery))
      const query = { ...listQuery, ...(sort !== undefined && { sort }) }
      const { limit: _, after: __, ...selection } = query
      return handler.handler({
        ...input,
        query: { ...query, ...(sort !== undefined && { sort: parseSort(sort) }) },
        binding: `${contract.operationId}|${canonicalJson(input.params)}|${canonicalJson(selection)}`,
      })
    },
  }
}

interface ErasedListHandler {
  handler(input: { params: unknown; query: unknown; binding: string; meta: RequestMeta }): Promise<unknown>
}

interface ListQuery {
  limit: number
  after?: string
  sort?: string
  asOf?: string
}

/** Past states are read in creation order, whatever the sort of the current state. */
function defaultSort(sorts: readonly string[], { asOf }: ListQuery): string | undefined {
  const [first] = sorts
  if (asOf === undefined || first?.endsWith('createdAt')) return first
  return sorts.find((sort) => sort.endsWith('createdAt')) ?? first
}

function listQuery(filters: z.ZodObject, sorts: readonly string[]): z.ZodObject {
  const fields = sorts.map((name) => (name.startsWith('-') ? name.slice(1) : name))
  const allowed = fields.flatMap((field) => [field, `-${field}`])
  const paged = withTimeZone(filters)
    .safeExtend({
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(pageBounds.items)
        .default(50)
        .meta({ description: 'Maximum number of items per page.' }),
      after: z
        .string()
        .min(1)
        .max(pageBounds.cursor)
        .optional()
        .meta({ description: 'The `nextCursor` of the previous page.' }),
    })
    .strict()
  if (sorts.length === 0) return paged
  return paged
    .safeExtend({
      sort: z.enum(allowed).optional().meta({
        default: sorts[0],
        description: 'Field to sort by; the prefix `-` sorts in descending order.',
      }),
    })
    .strict()
}

function parseSort(sort: string): Sort {
  return sort.startsWith('-')
    ? { field: sort.slice(1), direction: 'desc' }
    : { field: sort, direction: 'asc' }
}
