import { createSharedBudgets, type Route } from '@opsplane/http'
import { createVault } from '@opsplane/postgres'
import { createSealer } from '@opsplane/runtime'
import type { CodeRunner } from '@opsplane/sandbox'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { createCallArtifact } from './api/call-artifact.js'
import { apiRoutes } from './api/routes.js'
import type { ArtifactLoader } from './artifact/loader.js'
import type { SdkConfig } from './config.js'
import { startRetention } from './execution/retention.js'
import { executionRoutes } from './invoke/execution-routes.js'
import { createExecutions, type Executions } from './invoke/executions.js'
import { createInvoker, type Invoker } from './invoke/invoker.js'
import { type HostParts, openHost } from './invoke/open-host.js'
import { createExecutionReplays } from './invoke/replays.js'
import { createReadResult } from './invoke/results.js'
import { invokeRoutes } from './invoke/routes.js'
import { createRunCode } from './invoke/run-code.js'
import { createExecutionSealing } from './invoke/sealing.js'
import { createTraceQuota } from './invoke/trace-quota.js'
import { executionRetryWork, executionRetryWorkName } from './retry/retries.js'
import { executionRetryRoutes } from './retry/routes.js'

export interface OpenExecutionsOptions extends HostParts {
  runner: Pick<CodeRunner, 'run'>
  loading: ArtifactLoader
}

export interface OpenExecutions {
  executions: Executions
  invoking: Invoker
  routes: Route[]
  background: BackgroundWork[]
}

/** Assembles the executions of the service with all host functions. */
export async function openExecutions(
  ctx: ServiceContext<SdkConfig>,
  { runner, loading, ...parts }: OpenExecutionsOptions,
): Promise<OpenExecutions> {
  const { sdkExecutions: all, sdkExecutionsPerWorkspace: ofOne, sdkLeaseMs: leaseMs } = ctx.config
  const { opsplaneMasterKey, opsplanePreviousMasterKeys } = ctx.config
  const sealer = createSealer(opsplaneMasterKey, opsplanePreviousMasterKeys)
  const sealing = createExecutionSealing(createVault(ctx.database.db, sealer))
  const { functions, background } = await openHost(ctx, parts)
  const perform = createRunCode({ runner, functions, log: ctx.log })
  const readResult = createReadResult(sealing)
  const executions = createExecutions(ctx, {
    ...{ perform, loading, sealing, readResult, leaseMs },
    withinQuota: createTraceQuota(createSharedBudgets(ctx.config, parts.settings)),
    limits: { all, ofOne },
  })
  const invoking = createInvoker({ database: ctx.database, loading, executions, readResult })
  const replaying = createExecutionReplays(ctx.database, invoking, executions)
  ctx.dueWork.start(executionRetryWork(ctx.database, replaying, parts.settings))
  return {
    executions,
    invoking,
    routes: [
      ...invokeRoutes(invoking),
      ...apiRoutes(createCallArtifact(invoking)),
      ...executionRetryRoutes(ctx, () => ctx.dueWork.wake(executionRetryWorkName)),
      ...executionRoutes(ctx, invoking, replaying, readResult),
    ],
    background: [...background, ...executions.background, startRetention(ctx, parts.settings)],
  }
}
