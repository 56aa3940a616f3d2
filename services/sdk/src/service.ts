import { fileURLToPath } from 'node:url'
import {
  createCauses,
  createOperations,
  createPermissionFinder,
  platformClients,
  remoteDepths,
} from '@opsplane/http'
import { createCodeRunner, measureChildren } from '@opsplane/sandbox'
import {
  allOwned,
  createSubscriptionRules,
  defineService,
  dependentsRoute,
  openServiceClient,
  watchOwnerRights,
} from '@opsplane/service'
import { artifact } from './artifact/domain.js'
import { createArtifactLoader } from './artifact/loader.js'
import { loadConfig, type SdkConfig } from './config.js'
import { dependents } from './dependents.js'
import { executionChangeRoutes } from './execution/changes.js'
import { executionDepths } from './execution/queries.js'
import { createRunTest } from './invoke/run-artifact.js'
import { job } from './job/domain.js'
import { createJobs } from './job/jobs.js'
import { ownedJobs } from './job/owned-jobs.js'
import { jobRoutes } from './job/routes.js'
import { startSchedules } from './job/schedules.js'
import { openExecutions } from './open-executions.js'
import { pack } from './pack/domain.js'
import { neededRightsRoutes } from './pack/needed-rights-routes.js'
import { openPacks } from './pack/open-packs.js'
import { ownedPacks } from './pack/owned-packs.js'
import { workflowUses } from './pack/workflow-uses.js'
import { announceValidations, followValidations } from './rule/announce.js'
import { startRules } from './rule/events.js'
import { ruleRoutes } from './rule/routes.js'
import { createValidate } from './rule/validations.js'
import { testRoutes } from './test/routes.js'
import { createTests } from './test/tests.js'

export const sdk = defineService<SdkConfig>({
  name: 'sdk',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [artifact, job, pack],
  async setup(ctx) {
    const settings = openServiceClient(ctx, 'settings')
    const clients = platformClients(ctx)
    const operations = createOperations(clients, () => performance.now())
    const runner = createCodeRunner({ log: ctx.log })
    measureChildren(ctx.metrics, 'code', runner)
    const folders = ctx.config.sdkPacksDir === undefined ? [] : [ctx.config.sdkPacksDir]
    const loading = createArtifactLoader(ctx.database)
    const jobs = createJobs(ctx, loading, createPermissionFinder(operations))
    const studio = openServiceClient(ctx, 'database-studio')
    const rules = createSubscriptionRules(studio)
    const uses = [jobs.uses, workflowUses(clients.get('workflows'))]
    const packs = openPacks(ctx, {
      ...{ settings, runner, operations, uses, folders, rules },
      announceValidations: announceValidations(ctx.database, studio),
    })
    const { executions, ...ofExecutions } = await openExecutions(ctx, {
      ...{ settings, clients, operations, runner, loading },
    })
    const depthsAfter = createCauses({
      executions: executionDepths(ctx.database),
      runs: remoteDepths(clients.get('workflows'), '/internal/runs/depths'),
    })
    const tests = createTests({ artifacts: packs.artifacts, loading, runTest: createRunTest(executions) })
    const validate = createValidate(ctx, { loading, executions, depthsAfter })
    return {
      routes: [
        ...packs.routes,
        ...testRoutes(tests),
        ...ofExecutions.routes,
        ...executionChangeRoutes(ctx.database),
        ...jobRoutes(ctx, jobs),
        ...ruleRoutes(validate),
        ...neededRightsRoutes(loading, createPermissionFinder(operations)),
        dependentsRoute(ctx.database, dependents),
      ],
      background: [
        settings,
        studio,
        ...clients.values(),
        runner,
        ...watchOwnerRights(ctx, {
          durables: {
            ...{ users: 'sdk-user-rights', roles: 'sdk-role-rights' },
            ...{ tables: 'sdk-row-rules', keys: 'sdk-key-rights' },
          },
          ...{ settings, rules },
          ...allOwned([ownedPacks(ctx, packs.packs), ownedJobs(ctx, jobs)]),
        }),
        ...ofExecutions.background,
        startSchedules(ctx, { jobs, executions, loading }),
        startRules(ctx, { loading, executions, depthsAfter }),
        followValidations(ctx, studio),
      ],
    }
  },
})
