import { fileURLToPath } from 'node:url'
import { builtAssets, createRequireEnvironment } from '@opsplane/http'
import { createExpressions } from '@opsplane/sandbox'
import { defineService, dependentsRoute } from '@opsplane/service'
import { createAccessChecks } from './access/changes.js'
import { createApps } from './app/apps.js'
import { app } from './app/domain.js'
import { appRoutes } from './app/routes.js'
import { loadConfig } from './config.js'
import { dependents } from './dependents.js'
import { createDeployments } from './deployment/deployments.js'
import { deployment } from './deployment/domain.js'
import { deploymentRoutes } from './deployment/routes.js'
import { embedToken } from './embed/domain.js'
import { createEmbeds } from './embed/embeds.js'
import { startEmbedPurge } from './embed/purge.js'
import { embedRoutes } from './embed/routes.js'
import { createInspectForCaller, createWarnings } from './inspect/inspect-for-caller.js'
import { appPage } from './page/domain.js'
import { createPages } from './page/pages.js'
import { pageRoutes } from './page/routes.js'
import { openPlatform } from './platform.js'
import { watchRights } from './rights-watch.js'
import { createUse } from './runtime/call/use.js'
import { createEnter } from './runtime/enter.js'
import { runtimeRoutes } from './runtime/routes.js'
import { shellRoutes } from './shell/routes.js'
import { dataSource } from './source/domain.js'
import { sourceRoutes } from './source/routes.js'
import { createSources } from './source/sources.js'

export const apps = defineService({
  name: 'apps',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [app, appPage, dataSource, deployment, embedToken],
  setup(ctx) {
    const platform = openPlatform(ctx)
    const expressions = createExpressions({ log: ctx.log })
    const { settings } = platform
    const requireEnvironment = createRequireEnvironment(settings)
    const accessChecks = createAccessChecks(ctx.database, { settings, requireEnvironment })
    const known = createApps(ctx, { accessChecks })
    const pages = createPages(ctx, { apps: known, expressions })
    const lookUp = createInspectForCaller(platform)
    const warningsOf = createWarnings(lookUp, ctx.log)
    const sources = createSources(ctx, { apps: known, expressions, warningsOf })
    const deployments = createDeployments(ctx, { apps: known, expressions, platform, lookUp })
    const embeds = createEmbeds(ctx, { apps: known, deployments })
    const enter = createEnter(ctx, { deployments, embeds, platform })
    return {
      routes: [
        ...appRoutes(ctx, known),
        ...pageRoutes(ctx, { apps: known, pages }),
        ...sourceRoutes(ctx, { apps: known, sources }),
        ...deploymentRoutes(ctx, { apps: known, deployments }),
        ...embedRoutes(ctx, { apps: known, embeds }),
        ...shellRoutes({
          assets: builtAssets(new URL('../web/bundle/', import.meta.url)),
          embedOrigins: (id, at) => embeds.origins(id, at, ctx.clock.now()),
        }),
        dependentsRoute(ctx.database, dependents),
        ...runtimeRoutes(enter, createUse({ call: platform.call, expressions })),
      ],
      background: [
        platform,
        expressions,
        startEmbedPurge(ctx),
        ...watchRights(ctx, { deployments, embeds, settings }),
      ],
    }
  },
})
