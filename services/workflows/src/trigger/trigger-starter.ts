import { type Actor, ApiError, type TenantScope } from '@opsplane/contracts'
import { maxCausationDepth } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { Runs } from '../run/runs.js'
import type { StartRequest } from '../run/start.js'
import type { WorkflowRecord } from '../workflow/domain.js'
import type { Runnable, Workflows } from '../workflow/workflows.js'
import type { Cause } from './skipped-triggers.js'
import { recordSkipped } from './skipped-triggers.js'

export interface TriggerStarter {
  /**
   * Starts the published version of a workflow for a cause. Returns `null` if it is not started; a cause too deep in
   * its chain is recorded as skipped.
   */
  start(
    tenant: TenantScope,
    workflow: Pick<WorkflowRecord, 'id' | 'name'>,
    cause: Cause,
  ): Promise<{ runId: string; created: boolean } | null>
}

export interface TriggerStarterOptions {
  workflows: Pick<Workflows, 'published'>
  runs: Pick<Runs, 'start'>
  database: Database
  log: Logger
}

export function createTriggerStarter({
  workflows,
  runs,
  database,
  log,
}: TriggerStarterOptions): TriggerStarter {
  return {
    async start(tenant, { id: workflowId, name }, cause) {
      if (cause.depth > maxCausationDepth) {
        const { type, id, at } = cause
        await recordSkipped(database.sql, { workflowId, tenant, type, id, at, reason: 'too_deep' }, log)
        return null
      }
      const runnable = await workflows.published(workflowId, tenant).catch(ignoreMissing)
      if (runnable === null) return null
      const actor: Actor = { id: workflowId, name, type: 'workflow' }
      return runs.start(toStartRequest(tenant, runnable, cause, actor))
    },
  }
}

/** Ignores a workflow that was archived, or can no longer be run, in the meantime. */
function ignoreMissing(error: unknown): null {
  if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return null
  throw error
}

function toStartRequest(tenant: TenantScope, workflow: Runnable, cause: Cause, actor: Actor): StartRequest {
  const { type, id, at, event, input, depth, since, requestId, causationId, traceparent } = cause
  return {
    ...{ tenant, workflow, actor, event, input, depth, requestId, causationId, traceparent },
    trigger: { type, id, at },
    triggerKey: `${type}/${id}`,
    ...(since && { since }),
  }
}
