import { fileURLToPath } from 'node:url'
import { createDelegations, serviceClient } from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import { createExpressions, type Expressions } from '@opsplane/sandbox'
import { defineService, type ServiceContext } from '@opsplane/service'
import { loadConfig } from './config.js'
import { failed } from './run/perform/effect.js'
import { createRuns, type Runs } from './run/runs.js'
import { startBusTriggers } from './trigger/bus.js'
import { startEventTriggers } from './trigger/events.js'
import { hookRoutes } from './trigger/hook-routes.js'
import { createHooks } from './trigger/hooks.js'
import { manualRoutes } from './trigger/manual-routes.js'
import { startScheduleTriggers } from './trigger/schedules.js'
import { createStarting } from './trigger/starting.js'
import { workflowActionRoutes } from './workflow/action-routes.js'
import { createChecks } from './workflow/check/problems.js'
import { workflow } from './workflow/domain.js'
import { logEndsOf } from './workflow/log-ends.js'
import { findWorkflows } from './workflow/queries.js'
import { watchRights } from './workflow/rights-watch.js'
import { workflowRoutes } from './workflow/routes.js'
import { versionRoutes } from './workflow/version-routes.js'
import { createWorkflows, type Workflows } from './workflow/workflows.js'

const settingsTimeoutMs = 5_000

export const workflows = defineService({
  name: 'workflows',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [workflow],
  setup(ctx) {
    const settings = settingsClient(ctx)
    const expressions = createExpressions({ log: ctx.log })
    const checks = createChecks({
      expressions,
      findWorkflows: (tenant) => findWorkflows(ctx.database, tenant),
    })
    const delegations = createDelegations(settings)
    const definitions = createWorkflows(ctx, { delegations, checks, logEnds: () => logEnds() })
    const runs = openRuns(ctx, { expressions, definitions })
    const starting = createStarting({ ...ctx, workflows: definitions, runs })
    const triggers = startEventTriggers(ctx, { starting })
    const logEnds = logEndsOf(ctx.logs, triggers.floors, ctx.log)
    const hooks = createHooks({ ...ctx, starting, runs, settings })
    return {
      routes: [
        ...versionRoutes(definitions),
        ...workflowRoutes(ctx, definitions),
        ...workflowActionRoutes(definitions),
        ...manualRoutes(definitions, runs),
        ...hookRoutes(hooks),
      ],
      background: [
        settings,
        expressions,
        ...runs.background,
        watchRights(ctx, definitions, settings),
        triggers,
        startScheduleTriggers(ctx, { workflows: definitions, runs }),
        startBusTriggers(ctx, starting),
      ],
      onDrain: runs.onDrain,
    }
  },
})

/** No effects yet: see `run/perform`. */
function openRuns(
  ctx: ServiceContext,
  { expressions, definitions }: { expressions: Expressions; definitions: Workflows },
): Runs {
  const refuses = () => Promise.reject(failed('not_there', 'This kind of step cannot be run yet.'))
  return createRuns(ctx, {
    expressions,
    effects: { http: refuses, api: refuses, connector: refuses, publish: refuses },
    loadVersion: definitions.versions.load,
    published: definitions.published,
  })
}

function settingsClient({ config, issuer, tls }: ServiceContext) {
  return serviceClient({
    baseUrl: urlOfService(config, 'settings'),
    audience: 'settings',
    issuer,
    tls,
    timeoutMs: settingsTimeoutMs,
  })
}
