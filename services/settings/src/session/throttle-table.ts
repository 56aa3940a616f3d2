import { type Database, translatePostgresError } from '@opsplane/postgres'
import type { Attempt } from './attempt.js'

/** A key that an attempt counts for, with its waits. */
export interface ThrottledKeys {
  key: string
  /** Milliseconds to wait after the nth failure; the last value applies to all further failures. */
  waits: number[]
  /** Failures are forgotten after this time without an attempt. */
  forgetMs: number
  /** Skip this key for an account in a network from which it was logged in before. */
  unlessTrusted: boolean
}

/** The time until which a key has to wait; `null` if a concurrent attempt determines it. */
export interface Slowdown {
  key: string
  untilMs: number | null
  counted: boolean
}

export type ThrottleTable = ReturnType<typeof createThrottleTable>

const sweepEveryMs = 60_000
const sweptAtOnce = 1_000

/** 0 if there is no wait, so that the key is free even for a replica whose clock is behind. */
const until = (wait: string) => `coalesce($1::text::bigint + nullif((${wait})::bigint, 0), 0)`

/**
 * Either all keys count the attempt or none does, because a stranger's wait must not count against the owner. Rows
 * are always locked in key order, so that concurrent attempts do not deadlock.
 */
const countStatement = `
  with wanted as materialized (
    select w.key, w.waits, w."forgetMs" as forget_ms
    from jsonb_to_recordset($2::text::jsonb)
      as w(key text, waits jsonb, "forgetMs" bigint, "unlessTrusted" boolean)
    where not (w."unlessTrusted"
      and exists (select from login_throttle where key = $3 and trusted_until > $1::text::bigint))
  ), refused as materialized (
    select key, blocked_until from login_throttle
    where key in (select key from wanted) and blocked_until > $1::text::bigint
  ), counted as (
    insert into login_throttle as t (key, failures, last_at, blocked_until, expires_at)
    select key, 1, $1::text::bigint, ${until('waits ->> 0')}, $1::text::bigint + forget_ms
    from wanted where not exists (select from refused) order by key
    on conflict (key) do update set
      (failures, blocked_until) = (
        select n, ${until('w.waits ->> (least(n, jsonb_array_length(w.waits)) - 1)')}
        from wanted w, lateral
          (select case when t.last_at + w.forget_ms <= $1::text::bigint then 1 else t.failures + 1 end as n) f
        where w.key = excluded.key
      ),
      last_at = excluded.last_at,
      expires_at = greatest(t.trusted_until, excluded.expires_at)
    where t.blocked_until <= $1::text::bigint
    returning key, blocked_until
  )
  select w.key, coalesce(r.blocked_until, c.blocked_until) as "until", c.key is not null as counted
  from wanted w left join refused r using (key) left join counted c using (key)
  where r.key is not null or not exists (select from refused)`

/** An attempt of a trusted pair was not counted for its network, so its network's count is not reduced. */
const resetStatement = `
  insert into login_throttle as t (key, failures, last_at, blocked_until, trusted_until, expires_at)
  select key, 0, $1::text::bigint, 0,
    case when key = $2 then $5::text::bigint else 0 end, case when key = $2 then $5::text::bigint else $1::text::bigint end
  from unnest(array[$2, $3, $4]::text[]) as keys(key)
  where key <> $3 or not exists (select from login_throttle where key = $2 and trusted_until > $1::text::bigint)
  order by key
  on conflict (key) do update set
    failures = case when t.key = $3 then greatest(t.failures - 1, 0) else 0 end,
    blocked_until = 0,
    trusted_until = greatest(t.trusted_until, excluded.trusted_until),
    expires_at = case when t.key = $4 then excluded.expires_at else greatest(t.expires_at, excluded.expires_at) end`

const sweepStatement = `
  delete from login_throttle where key in (
    select key from login_throttle where expires_at <= $1::text::bigint
    order by expires_at limit ${sweptAtOnce} for update skip locked)`

interface Row {
  key: string
  until: string | null
  counted: boolean
}

/**
 * Failed logins, shared by all replicas. Keys are hashes. Expired rows are deleted about once a minute when attempts
 * are counted.
 */
export function createThrottleTable(sql: Database['sql']) {
  let sweptAtMs = Number.NEGATIVE_INFINITY
  const query = async <Result extends object>(text: string, parameters: string[]) => {
    try {
      return await sql.unsafe<Result[]>(text, parameters, { prepare: true })
    } catch (error) {
      throw translatePostgresError(error)
    }
  }
  const sweep = async (nowMs: number) => {
    if (nowMs - sweptAtMs < sweepEveryMs) return
    sweptAtMs = nowMs
    await query(sweepStatement, [String(nowMs)])
  }

  return {
    /**
     * Counts a failure for all keys, or returns those that have to wait. `pair` is the key of account and network
     * together.
     */
    async count(keys: ThrottledKeys[], pair: string, nowMs: number): Promise<Slowdown[]> {
      await sweep(nowMs)
      const rows = await query<Row>(countStatement, [String(nowMs), JSON.stringify(keys), pair])
      return rows.map(({ key, until, counted }) => ({
        key,
        counted,
        untilMs: until === null ? null : Number(until),
      }))
    },

    /** Resets the failures of the account, subtracts the attempt from its network, and trusts the pair. */
    async forgive(attempt: Attempt, { nowMs, trustedUntilMs }: { nowMs: number; trustedUntilMs: number }) {
      const { pair, network, account } = attempt
      await query(resetStatement, [String(nowMs), pair, network, account, String(trustedUntilMs)])
    },
  }
}
