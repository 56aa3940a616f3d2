import { ApiError } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'

/** Wraps a route so that it rejects a repeated call with `invalid_token`, whichever replica accepted the first one. */
export type SingleUse = (route: Route) => Route

/** Longer than the validity of a call's token. */
const rememberedFor = '1 minute'

/**
 * Claims a single-use id. Returns false if it was used before.
 *
 * @param kept - how long the id is remembered; must exceed its validity
 */
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
 * For calls that return something sensitive, or whose repetition would have a further effect. Each replica remembers
 * the calls it has accepted; this remembers them across all replicas.
 */
export function createSingleUse({ sql }: Pick<Database, 'sql'>): SingleUse {
  const claimCall = async ({ callId }: Pick<RequestMeta, 'callId'>) => {
    if (callId === undefined) throw new Error('the call has no token of its own')
    if (!(await claimSingleUse(sql, callId, rememberedFor)))
      throw new ApiError('invalid_token', 'The token of this call was used before.')
  }
  return (route) => ({
    ...route,
    handler: async (input) => {
      await claimCall(input.meta)
      return route.handler(input)
    },
  })
}
