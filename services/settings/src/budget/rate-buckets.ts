import type { RateSpends } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

/**
 * Subtracts the spends from the present level: never above a full bucket, and below an empty one only as far as a
 * minute's refill covers. A bucket without a report was full when the spending began. In the order of the keys,
 * so that two gateways never wait for each other.
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

/** Counts what gateways have taken; returns what each bucket has left. No key stands twice among the spends. */
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
