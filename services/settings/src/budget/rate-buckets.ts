import type { RateSpends } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

/**
 * Subtracts the spends from the current levels. A level is at most that of a full bucket (`burst`), and at least
 * `-burst`. An unknown bucket counts as full when the spending began. Rows are written in the order of their keys, so
 * that two gateways do not deadlock.
 */
const spend = `
with spends as (
  select * from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[])
    as t (key, spent, seconds, burst, per_second) order by key
), kept as (
  insert into rate_buckets as b (key, tokens, updated_at, full_at)
  select key, least(burst, greatest(-burst, burst + seconds * per_second - spent)), clock_timestamp(),
    clock_timestamp() + make_interval(secs => (2 * burst) / per_second)
  from spends order by key
  on conflict (key) do update set (tokens, updated_at, full_at) = (
    select least(t.burst, greatest(-t.burst,
        b.tokens + extract(epoch from excluded.updated_at - b.updated_at) * t.per_second - t.spent)),
      excluded.updated_at, excluded.full_at
    from spends t where t.key = b.key)
  returning b.key, b.tokens
)
select tokens from unnest($1::text[]) with ordinality as asked (key, place) join kept using (key) order by place`

const forget = `
delete from rate_buckets where ctid = any (array(
  select ctid from rate_buckets where full_at < clock_timestamp() limit 100 for update skip locked))`

/**
 * Records the spends of gateways and returns the remaining tokens of each bucket. Each key may occur only once among
 * the spends.
 */
export async function spendRates(
  { sql }: Pick<Database, 'sql'>,
  { spends }: RateSpends,
): Promise<{ tokens: number[] }> {
  const column = <Key extends keyof RateSpends['spends'][number]>(key: Key) => spends.map((each) => each[key])
  const values = [column('key'), column('spent'), column('seconds'), column('burst'), column('perSecond')]
  const rows = await sql.unsafe<{ tokens: number }[]>(spend, values, { prepare: true })
  await sql.unsafe(forget, [], { prepare: true })
  return { tokens: rows.map(({ tokens }) => tokens) }
}
