import { ExecutionRetryStarted, notFound, type TenantScope } from '@opsplane/contracts'
import { computeRequestDepth, type Route } from '@opsplane/http'
import { createGroupRetries, type Database } from '@opsplane/postgres'
import { groupRetryRoutes, type ServiceContext } from '@opsplane/service'
import { toExecutionCaller } from '../invoke/invoker.js'
import { executionRetryKind } from './retries.js'

/** @param wake called when a retry was created */
export const executionRetryRoutes = (
  { database, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  wake: () => void,
): Route[] =>
  groupRetryRoutes({
    ...{ kind: executionRetryKind, retries: createGroupRetries(database, executionRetryKind), cursors, wake },
    ...{ started: ExecutionRetryStarted, tag: 'Executions', base: '/origin/api/service-sdk/executions' },
    ...{ noun: 'execution', done: 'replayed' },
    scopes: { read: 'executions:read', write: 'sdk:invoke' },
    descriptions: {
      retry:
        'Replays the executions of the group that had failed when it was listed with this `to` and were not replayed since, like ' +
        '`POST /executions/:id/replay` with the same version and input, some at a time, with the rights the caller has at that ' +
        'time. External effects of an execution before its failure are repeated, as with any replay. With `dryRun` it only ' +
        'counts. `conflict` while the group is being retried.',
      cancel: 'No more executions are replayed, except those in progress. Accepted replays continue.',
    },
    requireTarget: (id, tenant) => requireArtifact(database.sql, id, tenant),
    describeRequest: (meta) => ({
      ...{ userId: meta.principal.userId, caller: toExecutionCaller(meta.principal) },
      depth: computeRequestDepth(meta),
    }),
  })

async function requireArtifact(
  sql: Database['sql'],
  id: string,
  { workspaceId, environment }: TenantScope,
): Promise<void> {
  const rows = await sql.unsafe(
    'select from artifacts where id = $1 and workspace_id = $2 and environment = $3',
    [id, workspaceId, environment],
    { prepare: true },
  )
  if (rows.length === 0) throw notFound()
}
