import { fileURLToPath } from 'node:url'
import { createExpressions } from '@opsplane/sandbox'
import { defineService } from '@opsplane/service'
import { type IntegrationsConfig, loadConfig } from './config.js'
import { createConnectors } from './connector/connectors.js'
import { connector } from './connector/domain.js'
import { connectorRoutes } from './connector/routes.js'
import { kindsOf } from './kind/kinds.js'
import { transformerRoutes } from './transformer/routes.js'

export const integrations = defineService<IntegrationsConfig>({
  name: 'integrations',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [connector],
  setup(ctx) {
    const kinds = kindsOf([])
    const connectors = createConnectors(ctx, kinds)
    const expressions = createExpressions({ log: ctx.log, maxWaitMs: 5_000 })
    return {
      routes: [...connectorRoutes(ctx, connectors, kinds), ...transformerRoutes(expressions)],
      background: [expressions],
    }
  },
})
