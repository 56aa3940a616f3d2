import type { DependentsOfKind } from '@opsplane/service'
import { z } from 'zod'

/** Resources that lend the rights of a person to the users of apps. */
export const dependents: readonly DependentsOfKind[] = [
  {
    kind: 'app',
    query: `select id, name, environment, to_json(app_id) as more from (
        select distinct on (d.environment, d.app_id) d.id, a.state->>'name' as name, d.environment, d.app_id,
          coalesce(d.state->>'giverId', d.state->>'deployedBy') as giver, d.state->>'heldReason' as held
        from deployments d join apps a on a.workspace_id = d.workspace_id and a.id = d.app_id and a.status = 'active'
        where d.workspace_id = $1 and d.status = 'completed'
        order by d.environment, d.app_id, d.number desc) live
      where giver = $2 and held is null order by id`,
    takeOver: ({ more: appId }) => ({
      ...{ method: 'POST', path: `/apps/${z.string().parse(appId)}/take-over`, body: null },
    }),
  },
  {
    kind: 'embed_token',
    query: `select t.id, a.state->>'name' as name, t.environment from embed_tokens t
      join apps a on a.workspace_id = t.workspace_id and a.id = t.app_id
      where t.workspace_id = $1 and t.state->>'createdBy' = $2 and t.state->>'revokedAt' is null
        and t.expires_at > to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') order by t.id`,
    // The token is revoked instead: the embedding site creates another one.
    takeOver: () => null,
  },
]
