import { type ReadRule, ReadRules, ReadRulesQuestion } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'

/** Internal route that returns row rules to services that show record events to users. Not routed by the gateway. */
export const readRulesRoute = ({ database: { sql } }: Pick<ServiceContext, 'database'>): Route =>
  defineRoute({
    ...{ method: 'post', tag: 'Internal', scope: 'service', idempotency: 'none' },
    operationId: 'getReadRules',
    path: '/internal/read-rules',
    callers: ['dispatcher', 'workflows', 'sdk', 'settings'],
    summary: 'List the roles that can read only some records of a table',
    body: ReadRulesQuestion,
    response: ReadRules,
    handler: async ({ body: { workspaceId } }) => ({
      rules: await sql.unsafe<ReadRule[]>(
        `select t.environment, t.slug as "table", rule->>'role' as role
         from tables t cross join lateral json_array_elements(t.state->'rules') rule
         where t.workspace_id = $1 and t.purge_at is null and json_typeof(rule->'read') = 'object'
         order by 1, 2, 3`,
        [workspaceId],
      ),
    }),
  })
