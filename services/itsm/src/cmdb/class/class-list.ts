import { builtInClasses, type CiClass, CiClassState, type Page, type TenantScope } from '@opsplane/contracts'
import {
  existsCondition,
  maxSearchedCreations,
  type PastOf,
  pastRows,
  readRowsAt,
} from '@opsplane/eventstore'
import {
  type Drizzle,
  type KeysetOptions,
  keysetPage,
  matchesText,
  parsePosition,
  type Selection,
  tenantBinding,
} from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { and, gt, inArray, lt, lte, notInArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { tenantConditions } from '../../lists/tenant-conditions.js'
import { ciClasses as table } from '../../schema/cmdb.js'
import { presentClass, unchangedClass } from './class-store.js'

export interface ClassQuery {
  tenant: TenantScope
  q?: string | undefined
  builtIn?: boolean | undefined
  asOf?: string | undefined
  direction: 'asc' | 'desc'
  limit: number
  after?: string | undefined
  binding: string
}

type CursorCodec = KeysetOptions<CiClass>['cursors']

/** Classes defined by the workspace. `upTo` is the last name that was searched; `null` if the whole list was. */
interface OwnClasses {
  classes: CiClass[]
  upTo: string | null
}

const builtInNames = Object.keys(builtInClasses)

/**
 * Returns one page of all classes, sorted by name. Built-in classes are few and may have no row, so they are read
 * separately. A class never changes between built-in and workspace-defined, so none is missed or reported twice.
 * Postgres does the sorting and searching for both.
 */
export async function classPage(
  { database: { db }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  query: ClassQuery,
): Promise<Page<CiClass>> {
  const binding = tenantBinding(query.tenant, query.binding)
  const after =
    query.after === undefined ? undefined : String(parsePosition(cursors, query.after, binding)[0])
  const builtIn = query.builtIn === false ? [] : await readBuiltInClasses(db, query)
  const own = await readOwnClasses(db, query, after, cursors)

  const all = new Map([...own.classes, ...builtIn].map((one) => [one.name, one]))
  const names = await mergeNames(db, query, own, builtIn, after)
  const last = names.length > query.limit ? names[query.limit - 1] : own.upTo
  return {
    items: names.slice(0, query.limit).flatMap((name) => all.get(name) ?? []),
    nextCursor: typeof last === 'string' ? cursors.encode([last, ''], binding) : null,
    limit: query.limit,
  }
}

/** Returns the built-in classes with the changes of the workspace. */
async function readBuiltInClasses(db: Drizzle, { tenant, asOf }: ClassQuery): Promise<CiClass[]> {
  const rows = await db
    .select({ id: table.id, state: table.state, version: table.version })
    .from(table)
    .where(and(...tenantConditions(table, tenant), inArray(table.name, builtInNames)))
  const then =
    asOf === undefined ? rows : await readRowsAt(db, { table, tenant, asOf, ids: rows.map(({ id }) => id) })
  const changed = then.map(({ state, version }) => presentClass(CiClassState.parse(state), version))
  const untouched = builtInNames.filter((name) => !changed.some((one) => one.name === name))
  return [...changed, ...untouched.map(unchangedClass)]
}

async function readOwnClasses(
  db: Drizzle,
  query: ClassQuery,
  after: string | undefined,
  cursors: CursorCodec,
): Promise<OwnClasses> {
  if (query.builtIn === true) return { classes: [], upTo: null }
  if (query.asOf !== undefined) return readOwnClassesAsOf(db, query, query.asOf, after)
  const { tenant, direction, limit, binding } = query
  const { items, nextCursor } = await keysetPage(db, {
    table,
    tenant,
    ...ownSelection(query, after),
    sort: { column: table.name, direction },
    limit,
    binding,
    cursors,
    present: ({ state, version }) => presentClass(CiClassState.parse(state), version),
  })
  return { classes: items, upTo: nextCursor === null ? null : (items.at(-1)?.name ?? null) }
}

const PastRow = z.object({ place: z.string(), state: CiClassState.nullable(), version: z.int().nullable() })

/** A class keeps its name, so the current rows are paged by name and each is read in its state at the instant. */
async function readOwnClassesAsOf(
  db: Drizzle,
  query: ClassQuery,
  asOf: string,
  after: string | undefined,
): Promise<OwnClasses> {
  const { tenant, direction, limit } = query
  const { where = [], search } = ownSelection(query, after)
  const maxRows = search === undefined ? limit + 1 : maxSearchedCreations
  const order = sql`place ${sql.raw(direction)}`
  const past: PastOf = { table, tenant, asOf }
  const there = and(...tenantConditions(table, tenant), ...where, lte(table.createdAt, asOf))
  const rows = await db.execute(sql`
    with candidate as materialized (
      select id as stream, name as place from ${table} where ${there}
      order by ${order} limit ${maxRows}
    )
    (select place, ${table.state} as state, ${table.version} as version from candidate ${pastRows(past, sql`candidate.stream`)}
      where ${and(existsCondition(past), search)} order by ${order} limit ${limit + 1})
    union all (select place, null, null from candidate order by ${order} offset ${maxRows - 1} limit 1)`)
  const read = z.array(PastRow).parse([...rows])
  const found = read.flatMap(({ state, version }) => (state ? presentClass(state, version ?? 0) : []))
  const classes = found.slice(0, limit)
  const end = found.length > limit ? classes.at(-1)?.name : read.find(({ state }) => state === null)?.place
  return { classes, upTo: end ?? null }
}

/** Returns the sorted names of the workspace's classes found and of the built-in classes within the same range. */
async function mergeNames(
  db: Drizzle,
  { q, direction, limit }: ClassQuery,
  own: OwnClasses,
  builtIn: CiClass[],
  after: string | undefined,
): Promise<string[]> {
  const operator = sql.raw(direction === 'asc' ? '<=' : '>=')
  const conditions = [
    after === undefined ? undefined : sql`name ${sql.raw(direction === 'asc' ? '>' : '<')} ${after}`,
    own.upTo === null ? undefined : sql`name ${operator} ${own.upTo}`,
    q === undefined ? undefined : matchesText(sql`list_search(name, label, '')`, q),
  ]
  const list = (values: string[]) =>
    sql`array(select json_array_elements_text(${JSON.stringify(values)}::json))`
  const rows = await db.execute(sql`
    select name from (
      select name from unnest(${list(own.classes.map(({ name }) => name))}) name
      union all
      select name from unnest(${list(builtIn.map(({ name }) => name))},
        ${list(builtIn.map(({ label }) => label))}) built_in(name, label)
      where ${and(sql`true`, ...conditions)}
    ) page order by name ${sql.raw(direction)} limit ${limit + 1}`)
  return z
    .array(z.object({ name: z.string() }))
    .parse([...rows])
    .map(({ name }) => name)
}

/** Selection of the workspace's own classes after a given name. */
export function ownSelection(
  { q, direction }: Pick<ClassQuery, 'q' | 'direction'>,
  after: string | undefined,
): Selection {
  const comparator = direction === 'asc' ? gt : lt
  return {
    where: [
      notInArray(table.name, builtInNames),
      after === undefined ? undefined : comparator(table.name, after),
    ],
    search: q === undefined ? undefined : matchesText(table.search, q),
  }
}
