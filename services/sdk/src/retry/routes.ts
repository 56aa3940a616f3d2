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
        'Replays those of the group that had failed when it was listed with this `to`, and have not been replayed since, as ' +
        '`POST /executions/:id/replay` does with the same version and input; some at a time, and by the rights of the caller, as ' +
        'far as they still have them then. What an execution has done outside before it failed is done again, as by any replay. ' +
        'With `dryRun` it only counts. `conflict` while the group is being retried.',
      cancel: 'No more executions are replayed, but for some it may be at; replays that were accepted go on.',
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
