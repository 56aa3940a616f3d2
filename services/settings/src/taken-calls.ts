import { ApiError } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'

/** The route, answered with `invalid_token` where another replica, or this one, has taken the call before. */
export type TakenOnce = (route: Route) => Route

/** Longer than a token for one call counts. */
const callKeptMs = 60_000

const take = `
with forgotten as (
  delete from taken_calls where ctid = any (array(
    select ctid from taken_calls where kept_until < clock_timestamp() limit 100 for update skip locked))
)
insert into taken_calls (id, kept_until) values ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
on conflict do nothing`

/** False where another replica, or this one, has taken it before. It is remembered for this time. */
export async function takeOnce({ sql }: Pick<Database, 'sql'>, id: string, keptMs: number): Promise<boolean> {
  const { count } = await sql.unsafe(take, [id, String(keptMs)], { prepare: true })
  return count === 1
}

/**
 * For calls that give something out, or would do more if they were done twice: each replica remembers the calls it has taken, and
 * this remembers them for all replicas.
 */
export function createTakenOnce(database: Pick<Database, 'sql'>): TakenOnce {
  const takeCall = async ({ callId }: Pick<RequestMeta, 'callId'>) => {
    if (callId === undefined) throw new Error('the call has no token of its own')
    if (!(await takeOnce(database, callId, callKeptMs)))
      throw new ApiError('invalid_token', 'The call was taken before.')
  }
  return (route) => ({
    ...route,
    handler: async (given) => {
      await takeCall(given.meta)
      return route.handler(given)
    },
  })
}
