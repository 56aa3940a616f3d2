import { fileURLToPath } from 'node:url'
import {
  createCauses,
  createCauseVerifier,
  createDelegations,
  createOperations,
  createPermissionFinder,
  createRequireEnvironment,
  createSecretTargets,
  openOutbound,
  platformClients,
  remoteDepths,
} from '@opsplane/http'
import { createExpressions, measureChildren } from '@opsplane/sandbox'
import { createSubscriptionRules, defineService, dependentsRoute, openServiceClient } from '@opsplane/service'
import { loadConfig, type WorkflowsConfig } from './config.js'
import { internalRoutes } from './internal-routes.js'
import { assembleRuns } from './run/assemble-runs.js'
import { findCauseDepths } from './trigger/active-workflows.js'
import { startBusTriggers } from './trigger/bus.js'
import { startEventTriggers } from './trigger/events.js'
import { hookRoutes } from './trigger/hook-routes.js'
import { createHooks } from './trigger/hooks.js'
import { manualRoutes } from './trigger/manual-routes.js'
import { startScheduleTriggers } from './trigger/schedules.js'
import { skippedRoutes } from './trigger/skipped-triggers.js'
import { createTriggerStarter } from './trigger/trigger-starter.js'
import { workflowActionRoutes } from './workflow/action-routes.js'
import { createComputeNeeds } from './workflow/check/needs.js'
import { createChecks } from './workflow/check/problems.js'
import { findConnectors } from './workflow/connector-names.js'
import { dependentApprovals, dependentWorkflows } from './workflow/dependents.js'
import { workflow } from './workflow/domain.js'
import { startSettling } from './workflow/grants.js'
import { findArtifacts, findKnown } from './workflow/known-names.js'
import { coalesceCalls, createLogEndReader } from './workflow/log-ends.js'
import { createPortable } from './workflow/portable.js'
import { portableRoutes } from './workflow/portable-routes.js'
import { findWorkflows } from './workflow/queries.js'
import { watchRights } from './workflow/rights-watch.js'
import { workflowRoutes } from './workflow/routes.js'
import { versionRoutes } from './workflow/version-routes.js'
import { createWorkflows } from './workflow/workflows.js'

/** Allows the body of an inbound webhook (5 MiB) in base64 or escaped in JSON, with the rest of the scope. */
const ofLargeEvents = { maxInputBytes: 12 * 1024 * 1024, maxOutputBytes: 8 * 1024 * 1024 }

export const workflows = defineService<WorkflowsConfig>({
  name: 'workflows',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [workflow],
  async setup(ctx) {
    const settings = openServiceClient(ctx, 'settings')
    const clients = platformClients(ctx)
    const operations = createOperations(clients, () => performance.now())
    const connectors = findConnectors(clients.get('integrations'))
    const artifacts = findArtifacts(clients)
    const expressions = createExpressions({ log: ctx.log, ...ofLargeEvents })
    measureChildren(ctx.metrics, 'expressions', expressions)
    const secretTargets = createSecretTargets(settings)
    const { workflowCaFile, workflowAllowedCidrs, workflowDeniedCidrs, workflowAllowHttp } = ctx.config
    const outbound = await openOutbound({
      ...{ caFile: workflowCaFile, allowHttp: workflowAllowHttp },
      ...{ allowedCidrs: workflowAllowedCidrs, deniedCidrs: workflowDeniedCidrs },
    })
    const checks = createChecks({
      expressions,
      findWorkflows: (tenant) => findWorkflows(ctx.database, tenant),
      platform: {
        ...{ operations, outbound, log: ctx.log },
        ...{ findConnectors: connectors, findKnown: findKnown(clients), secretTargets },
      },
    })
    const delegations = createDelegations(settings)
    const studio = openServiceClient(ctx, 'database-studio')
    const rules = createSubscriptionRules(studio)
    const needsOf = createComputeNeeds({
      permissionOf: createPermissionFinder(operations),
      ...{ findConnectors: connectors, findArtifacts: artifacts },
    })
    const definitions = createWorkflows(ctx, {
      ...{ delegations, settings, rules, checks, needsOf, secretTargets },
      logEnds: () => logEnds(),
    })
    const { runs, ...ofRuns } = assembleRuns(ctx, {
      ...{ expressions, settings, clients, operations, outbound },
      loadVersion: definitions.versions.load,
      published: definitions.published,
      giverOf: ({ identity: { id, tenant }, origin: { programRef } }) =>
        definitions.givers.of({ versionId: programRef, runId: id }, tenant),
      transferRuns: definitions.transferRuns,
      logEnds: () => logEnds(),
    })
    const starting = createTriggerStarter({ ...ctx, workflows: definitions, runs })
    const depthsAfter = createCauses({
      runs: (ids) => findCauseDepths(ctx.database, ids),
      executions: remoteDepths(clients.get('sdk'), '/internal/executions/depths'),
    })
    const triggers = startEventTriggers(ctx, { starting, deliver: runs.deliver, depthsAfter })
    const logEnds = coalesceCalls(createLogEndReader(ctx.logs, triggers.lowWatermarks, ctx.log))
    const verifyCause = createCauseVerifier(ctx.config.trustedServiceKeys)
    const hooks = createHooks({ ...ctx, starting, runs, settings, verifyCause, depthsAfter })
    return {
      routes: [
        ...ofRuns.routes,
        ...versionRoutes(definitions),
        ...workflowRoutes(ctx, definitions),
        ...workflowActionRoutes(definitions),
        ...portableRoutes(
          createPortable({
            ...ctx,
            workflows: definitions,
            requireEnvironment: createRequireEnvironment(settings),
            findConnectors: connectors,
          }),
        ),
        ...manualRoutes(definitions, runs),
        ...skippedRoutes(ctx),
        ...hookRoutes(hooks),
        ...internalRoutes(ctx.database),
        dependentsRoute(ctx.database, [dependentWorkflows, dependentApprovals]),
      ],
      background: [
        ...[settings, studio],
        ...clients.values(),
        expressions,
        outbound,
        ...ofRuns.background,
        ...watchRights(ctx, definitions, {
          ...{ settings, rules },
          // A failed lookup does not prevent a suspension for other lost rights; rights are also checked where they
          // are used.
          needsOf: createComputeNeeds({
            permissionOf: async (id) => (await operations.find(id))?.permission,
            findConnectors: (tenant, wanted) => connectors(tenant, wanted).catch(() => []),
            findArtifacts: (tenant, names) => artifacts(tenant, names).catch(() => []),
          }),
        }),
        startSettling(definitions.grants, ctx.log),
        triggers,
        startScheduleTriggers(ctx, { workflows: definitions, runs }),
        startBusTriggers(ctx, starting),
      ],
      onDrain: runs.onDrain,
    }
  },
})
