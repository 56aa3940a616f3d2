import { createSharedBudgets, type Route } from '@opsplane/http'
import type { Expressions } from '@opsplane/sandbox'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { WorkflowsConfig } from '../config.js'
import { createRunActions, type TransferRuns } from './actions.js'
import { runRetryWork } from './failures/retries.js'
import { createEffects, type EffectParts } from './perform/effects.js'
import { startRetention } from './retention/runs.js'
import { runRoutes } from './routes.js'
import { createRuns, type Runs, type RunsOptions } from './runs.js'

export interface RunPartsOptions
  extends Pick<RunsOptions, 'loadVersion' | 'published' | 'giverOf' | 'logEnds'>,
    EffectParts {
  expressions: Pick<Expressions, 'evaluate'>
  transferRuns: TransferRuns
}

export interface RunParts {
  runs: Runs
  routes: Route[]
  background: BackgroundWork[]
}

/** Assembles the runs of the service with all effects of their steps. */
export function assembleRuns(
  ctx: ServiceContext<WorkflowsConfig>,
  { settings, clients, operations, outbound, transferRuns, ...options }: RunPartsOptions,
): RunParts {
  const { workflowRuns: all, workflowRunsPerWorkspace: ofOne } = ctx.config
  const { workflowLeaseMs: leaseMs, workflowMaxDeaths: maxDeaths } = ctx.config
  const budgets = createSharedBudgets(ctx.config, settings)
  const { effects, background } = createEffects(ctx, { settings, clients, operations, outbound })
  const runs = createRuns(ctx, { ...options, effects, budgets, leaseMs, maxDeaths, maxRuns: { all, ofOne } })
  const actions = createRunActions(ctx.database.sql, runs, transferRuns)
  ctx.dueWork.start(runRetryWork(ctx.database, actions))
  return {
    runs,
    routes: runRoutes(ctx, runs, actions),
    background: [...background, ...runs.background, startRetention(ctx, settings)],
  }
}
