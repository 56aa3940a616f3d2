import { fileURLToPath } from 'node:url'
import { createDelegations, serviceClient } from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import { createExpressions } from '@opsplane/sandbox'
import { defineService, type ServiceContext } from '@opsplane/service'
import { loadConfig } from './config.js'
import { workflowActionRoutes } from './workflow/action-routes.js'
import { createChecks } from './workflow/check/problems.js'
import { workflow } from './workflow/domain.js'
import { findWorkflows } from './workflow/queries.js'
import { workflowRoutes } from './workflow/routes.js'
import { versionRoutes } from './workflow/version-routes.js'
import { createWorkflows } from './workflow/workflows.js'

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
    const definitions = createWorkflows(ctx, { delegations: createDelegations(settings), checks })
    return {
      routes: [
        ...versionRoutes(definitions),
        ...workflowRoutes(ctx, definitions),
        ...workflowActionRoutes(definitions),
      ],
      background: [settings, expressions],
    }
  },
})

function settingsClient({ config, issuer, tls }: ServiceContext) {
  return serviceClient({
    baseUrl: urlOfService(config, 'settings'),
    audience: 'settings',
    issuer,
    tls,
    timeoutMs: settingsTimeoutMs,
  })
}
