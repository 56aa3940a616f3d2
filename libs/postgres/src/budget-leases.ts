import type { GrantLeases, LeaseRequest } from '@opsplane/runtime'
import type { Sql } from 'postgres'

interface Granted {
  granted: string
  for_ms: number
}

const lockHolders = `
select pg_advisory_xact_lock(hashtextextended(name || ' ' || holder, 0))
from (select distinct name, holder from unnest($1::text[], $2::text[]) as a (name, holder) order by 1, 2) ordered`

/**
 * Grants the amount other replicas have not leased, up to the requested one. A window ends at the same instant for
 * all.
 */
const grantLeases = `
with ask as (
  select * from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::int[])
    with ordinality as a (name, holder, wanted, most, ms, windowed, place)
), given as (
  select a.*, greatest(0, least(a.wanted, a.most - coalesce((
      select sum(l.amount) from budget_leases l
      where l.name = a.name and l.holder = a.holder and l.owner <> $1 and l.expires_at > clock_timestamp()
    ), 0)))::bigint as amount,
    make_interval(secs => a.ms / 1000.0) as length
  from ask a
), ended as (
  select g.*, g.length + case when g.windowed = 1 then date_bin(g.length, clock_timestamp(), '2000-01-01 00:00:00Z')
    else clock_timestamp() end as expires_at
  from given g
), kept as (
  insert into budget_leases (name, holder, owner, amount, expires_at)
  select name, holder, $1, amount, expires_at from ended
  on conflict on constraint budget_leases_pkey
    do update set amount = excluded.amount, expires_at = excluded.expires_at
)
select amount::text as granted,
  greatest(1, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::int as for_ms
from ended order by place`

const forget = `
delete from budget_leases where ctid = any (array(
  select ctid from budget_leases where expires_at < clock_timestamp() - interval '1 minute' limit 100))`

/**
 * Grants leases of budgets to `owner`, a replica, replacing its earlier ones. At most one request per name and
 * holder. Requires the table `budget_leases` in the service's schema.
 */
export async function grantBudgetLeases(
  sql: Sql,
  owner: string,
  requests: LeaseRequest[],
): ReturnType<GrantLeases> {
  const column = <Key extends keyof LeaseRequest>(key: Key) => requests.map((request) => request[key])
  const names = column('name')
  const holders = column('holder')
  const rows = await sql.begin(async (tx) => {
    await tx.unsafe(lockHolders, [names, holders], { prepare: true })
    const values = [
      names,
      holders,
      column('wanted'),
      column('most'),
      column('ms'),
      requests.map(({ windowed }) => Number(windowed)),
    ]
    return tx.unsafe<Granted[]>(grantLeases, [owner, ...values], { prepare: true })
  })
  await sql.unsafe(forget, [], { prepare: true })
  return rows.map(({ granted, for_ms }) => ({ granted: Number(granted), forMs: for_ms }))
}
