import { isoText } from '../sql-text.js'
import type { DueTable } from './due-table.js'

/** A statement whose parameters are all text: every value is cast in its SQL. */
export interface Statement {
  text: string
  parameters: (string | null | (string | null)[])[]
}

/** The fairness keys to serve, and how many rows are claimed for each. */
export interface FairShares {
  keys: string[]
  each: number
}

export interface ClaimOptions {
  /** The time of tests that simulate it; otherwise `null`, for the database's own time. */
  at: string | null
  limit: number
  /** An additional condition for rows that may be claimed now. */
  where?: string | undefined
  /** Keys of rows to leave out. */
  except?: readonly string[] | undefined
  /** If absent, the rows due longest come first. */
  turns?: FairShares | undefined
}

/** The current time, constant within the transaction, so that an index can be searched by it. */
export const nowSql = 'coalesce($1::text::timestamptz, now())'
const clock = 'coalesce($1::text::timestamptz, clock_timestamp())'
const after = (ms: string) => `${clock} + ${ms} * interval '1 ms'`

/** The time of the claim, as ISO text. */
export const claimInstantSql = `${isoText(nowSql)} as at`
const lag = (due: string) => `(extract(epoch from ${nowSql} - ${due}) * 1000)::float8 as "lagMs"`

const turnOf = ({ fairKey }: DueTable) => (fairKey === undefined ? [] : [`${fairKey} as turn`])

/** Locks rows that are due and not claimed by others, until the transaction ends. */
export function lockStatement(of: DueTable, columns: readonly string[], options: ClaimOptions): Statement {
  const { key, due } = of
  return picked(
    of,
    [`${key} as key`, 'failures', claimInstantSql, lag(due), ...turnOf(of), ...columns].join(', '),
    options,
  )
}

/**
 * Leases rows that are due. If a previous lease expired, its holder died while working on the row, which counts as
 * a failure.
 */
export function leaseStatement(
  of: DueTable,
  columns: readonly string[],
  { owner, leaseMs, ...options }: ClaimOptions & { owner: string; leaseMs: number },
): Statement {
  const { table, key } = of
  const from = picked(of, `${key} as picked_key, ${of.due} as picked_due`, options)
  const [lease, by] = [from.parameters.length + 1, from.parameters.length + 2]
  return {
    text: `with picked as materialized (${from.text})
      update ${table} set held_until = ${after(`$${lease}::float8`)}, lease_owner = $${by}::text,
        lease_fence = lease_fence + 1, failures = failures + (lease_owner is not null)::int
      from picked where ${key} = picked_key
      returning ${[`${key} as key`, 'lease_fence::text as fence', 'failures', claimInstantSql, lag('picked_due'), ...turnOf(of), ...columns].join(', ')}`,
    parameters: [...from.parameters, String(leaseMs), owner],
  }
}

function picked(
  { table, key, due, dueInTurn, waiting, fairKey }: DueTable,
  columns: string,
  { at, limit, turns, where: only = 'true', except }: ClaimOptions,
): Statement {
  const parameters = [at, String(limit), ...(turns ? [turns.keys, String(turns.each)] : [])]
  const others = except ? `${key} <> all($${parameters.length + 1}::text[])` : 'true'
  if (except) parameters.push([...except])
  const rows = (where: string, by: string, maxRows: string) => `select ${columns} from ${table}
    where (${waiting}) and ${where} and (${only}) and ${others} and ${by} <= ${nowSql}
    order by ${by} limit ${maxRows} for update skip locked`
  if (!turns) return { text: rows('true', due, '$2::int'), parameters }
  return {
    text: `select mine.* from unnest($3::text[]) turn (of_whom)
      cross join lateral (${rows(`${fairKey} = of_whom`, dueInTurn, '$4::int')}) mine limit $2::int`,
    parameters,
  }
}

/** The fairness keys with due rows, in order. Walks the index in one step per key with waiting rows. */
export function dueKeysStatement(
  { table, dueInTurn, waiting, fairKey }: DueTable,
  at: string | null,
): Statement {
  const first = (condition: string) => `(select ${fairKey} from ${table}
    where (${waiting}) ${condition} order by ${fairKey} limit 1)`
  return {
    text: `with recursive keys (one) as (
        select ${first('')} union all
        select ${first(`and ${fairKey} > one`)} from keys where one is not null)
      select one from keys where one is not null and exists (
        select 1 from ${table} where (${waiting}) and ${fairKey} = one and ${dueInTurn} <= ${nowSql})`,
    parameters: [at],
  }
}

/** When the next row is due: an expression, `null` if no row is waiting. */
export const nextDue = ({ table, due, waiting }: DueTable): string =>
  `(select ${due} from ${table} where (${waiting}) order by ${due} limit 1)`

/**
 * For each table, by its name: the number of due rows, at most `maxCount`, and for how long the first one has been
 * due.
 */
export const dueCountsStatement = (
  tables: readonly { name: string; of: DueTable }[],
  most: number,
): Statement => ({
  text: tables.map(({ of }, at) => dueCount(of, at + 1, most)).join(' union all '),
  parameters: tables.map(({ name }) => name),
})

/** The same for one workspace; work of the installation is left out. */
export function workspaceDueCountsStatement(
  tables: readonly { name: string; of: DueTable }[],
  workspaceId: string,
  maxCount: number,
): Statement {
  const ofWorkspaces = tables.filter(({ of }) => !of.ofPlatform)
  const where = ' and workspace_id = $1::text'
  return {
    text: ofWorkspaces.map(({ of }, at) => dueCount(of, at + 2, maxCount, where)).join(' union all '),
    parameters: [workspaceId, ...ofWorkspaces.map(({ name }) => name)],
  }
}

function dueCount(
  { table, due, dueInTurn, waiting, fairKey }: DueTable,
  at: number,
  maxCount: number,
  where = '',
): string {
  // By the turn index if there is one, because the workspace may have only a fraction of the waiting rows.
  const by = where !== '' && fairKey === 'workspace_id' ? dueInTurn : due
  return `select $${at}::text as name, count(*)::int as due,
    coalesce(extract(epoch from now() - min(due)), 0)::float8 as age from (
      select ${by} as due from ${table} where (${waiting})${where} and ${by} <= now() order by ${by} limit ${maxCount}) waits`
}

/** A claimed row: leased if it has a fence, otherwise locked. */
export interface ClaimedRow {
  key: string
  fence?: string
}

export interface RetryDelay extends ClaimedRow {
  /** The delay before the next attempt. */
  waitMs: number
  error: string
}

/** Always in the same order, so that two of these statements do not deadlock. */
const inOrder = <Row extends ClaimedRow>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))

/**
 * Changes rows that the holder still has, and returns their keys; rows whose lease was lost are not changed. `$1`
 * is the time, `$2` and `$3` are keys and fences, and `more` are further arrays, as `value_4` and so on.
 */
function change(
  { table, key }: DueTable,
  claimedRows: readonly ClaimedRow[],
  { at, set, more = [] }: { at: string | null; set: string; more?: string[][] },
): Statement {
  const places = more.map((_, index) => index + 4)
  const arrays = places.map((place) => `, $${place}::text[]`).join('')
  const names = places.map((place) => `, value_${place}`).join('')
  const leased = claimedRows.some(({ fence }) => fence !== undefined)
  return {
    text: `update ${table} set ${set}
      from (select $1::text as at) asked,
        unnest($2::text[], $3::text[]${arrays}) given (held_key, held_fence${names})
      where ${key} = held_key${leased ? ' and lease_fence = held_fence::bigint and lease_owner is not null' : ''}
      returning ${key} as key`,
    parameters: [at, claimedRows.map((row) => row.key), claimedRows.map((row) => row.fence ?? null), ...more],
  }
}

const released = (claimedRows: readonly ClaimedRow[]) =>
  claimedRows.some(({ fence }) => fence !== undefined) ? 'lease_owner = null, ' : ''

/** Ends the claim of rows that are done. */
export const doneStatement = (of: DueTable, held: readonly ClaimedRow[]): Statement =>
  change(of, inOrder(held), {
    at: null,
    set: `${released(held)}held_until = null, failures = 0, last_error = null`,
  })

/** Releases rows unchanged. */
export const releaseStatement = (of: DueTable, held: readonly ClaimedRow[]): Statement =>
  change(of, inOrder(held), { at: null, set: `${released(held)}held_until = null` })

/** Delays rows that have failed. */
export function retryStatement(of: DueTable, setbacks: readonly RetryDelay[], at: string | null): Statement {
  const rows = inOrder(setbacks)
  const set = `${released(rows)}failures = failures + 1, held_until = ${after('value_4::float8')}, last_error = value_5`
  return change(of, rows, {
    at,
    set,
    more: [rows.map(({ waitMs }) => String(waitMs)), rows.map(({ error }) => error)],
  })
}

/** Extends leases, and returns the keys of those still valid. */
export const renewStatement = (
  of: DueTable,
  held: readonly ClaimedRow[],
  { at, leaseMs }: { at: string | null; leaseMs: number },
): Statement => change(of, inOrder(held), { at, set: `held_until = ${after(`${leaseMs}`)}` })
