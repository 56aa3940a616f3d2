import { ApiError } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'

/** The route, answered with `invalid_token` where another replica, or this one, has taken the call before. */
export type SingleUse = (route: Route) => Route

/** Longer than a token for one call counts. */
const rememberedFor = '1 minute'

/** Whether this is the first to take what may be taken once; `kept`: for how long that is remembered, longer than it counts. */
export async function claimSingleUse(
  sql: Pick<Database['sql'], 'unsafe'>,
  id: string,
  kept: string,
): Promise<boolean> {
  const { count } = await sql.unsafe(claimStatement, [id, kept], { prepare: true })
  return count === 1
}

const claimStatement = `
with forgotten as (
  delete from taken_calls where ctid = any (array(
    select ctid from taken_calls where kept_until < clock_timestamp() limit 100 for update skip locked))
)
insert into taken_calls (id, kept_until) values ($1, clock_timestamp() + $2::text::interval)
on conflict do nothing`

/**
 * For calls that give something out, or would do more if they were done twice: each replica remembers the calls it has taken, and
 * this remembers them for all replicas.
 */
export function createSingleUse({ sql }: Pick<Database, 'sql'>): SingleUse {
  const claimCall = async ({ callId }: Pick<RequestMeta, 'callId'>) => {
    if (callId === undefined) throw new Error('the call has no token of its own')
    if (!(await claimSingleUse(sql, callId, rememberedFor)))
      throw new ApiError('invalid_token', 'The token of this call was used before.')
  }
  return (route) => ({
    ...route,
    handler: async (given) => {
      await claimCall(given.meta)
      return route.handler(given)
    },
  })
}
