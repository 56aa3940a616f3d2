import type { Actor, RunError, RunStatus, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'

/** What is to be run, and why. */
export interface StartRequest {
  tenant: TenantScope
  workflow: { id: string; name: string; version: number; programRef: string }
  trigger: { type: string; id: string | null; at: string }
  /** Of a workflow only one run has it; null: as many as one likes. */
  triggerKey: string | null
  event: unknown
  input: unknown
  /** Runs that were caused by runs, up to this one. */
  depth: number
  grant: string | null
  actor: Actor
  requestId: string | null
  causationId: string | null
}

/** What triggers need of runs. */
export interface RunStarter {
  /** `created` false: the trigger's key has started this run before. */
  start(request: StartRequest, tx?: StatementRunner): Promise<{ runId: string; created: boolean }>
  /** Runs were started in a transaction that is committed now. */
  wake(): void
  /** Undefined where the run has not ended in so long, or nobody waits any more. */
  waitForEnd(
    runId: string,
    ms: number,
    aborted?: AbortSignal,
  ): Promise<{ status: RunStatus; output: unknown; error: RunError | null } | undefined>
}
