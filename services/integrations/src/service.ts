import { fileURLToPath } from 'node:url'
import {
  createCauseSigner,
  createDelegations,
  createEgress,
  createOutboundHttp,
  createSecretTargets,
  createSecretValues,
  type Outbound,
  openOutbound,
} from '@opsplane/http'
import { createLimits } from '@opsplane/runtime'
import { createExpressions } from '@opsplane/sandbox'
import { defineService, dependentsRoute, openServiceClient } from '@opsplane/service'
import { type IntegrationsConfig, loadConfig } from './config.js'
import { createCalls } from './connector/calls.js'
import { createConnectors } from './connector/connectors.js'
import { dependentConnectors } from './connector/dependents.js'
import { connector } from './connector/domain.js'
import { internalRoutes } from './connector/internal-routes.js'
import { connectorRoutes } from './connector/routes.js'
import { checkWork } from './health/checks.js'
import { createObserver } from './health/observations.js'
import { createInvoker } from './invocation/invoker.js'
import { createInvocationLog } from './invocation/log.js'
import { createProbe } from './invocation/probe.js'
import { retentionWork } from './invocation/retention.js'
import { invocationRoutes } from './invocation/routes.js'
import { createSendAuthorized } from './kind/auth.js'
import { httpKind } from './kind/http.js'
import { createSendHttp } from './kind/http-calls.js'
import { createKinds } from './kind/kinds.js'
import { openApiKind } from './kind/openapi.js'
import { createDocuments } from './kind/openapi-document.js'
import { postgresKind } from './kind/postgres.js'
import { slackKind } from './kind/slack.js'
import { smtpKind } from './kind/smtp.js'
import { topicKind } from './kind/topic.js'
import { transformerRoutes } from './transformer/routes.js'

const dispatcherTimeoutMs = 20_000
/** Cache duration of secrets in milliseconds, as in the dispatcher: a revoked secret stops working within this time. */
const secretsKeptMs = 10_000

export const integrations = defineService<IntegrationsConfig>({
  name: 'integrations',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [connector],
  async setup(ctx) {
    const { config, database, clock, log } = ctx
    const settings = openServiceClient(ctx, 'settings')
    const outbound = await outboundOf(config)
    const http = createOutboundHttp(outbound)
    const signCause = createCauseSigner({ service: 'integrations', privateKey: config.servicePrivateKey })
    const send = createSendHttp(http, signCause)
    const sendAuthorized = createSendAuthorized(send)
    const { checkUrl } = outbound
    const dispatcher = openServiceClient(ctx, 'dispatcher', dispatcherTimeoutMs)
    const kinds = createKinds([
      httpKind({ send: sendAuthorized, checkUrl }),
      openApiKind({ send: sendAuthorized, load: createDocuments(send), checkUrl }),
      postgresKind(outbound),
      slackKind({ send, checkUrl }),
      smtpKind(outbound),
      topicKind({ dispatcher, delegations: createDelegations(settings) }),
    ])
    const limits = createLimits(config)
    const connectors = createConnectors(ctx, kinds, { limits, secretTargets: createSecretTargets(settings) })
    const resolve = createSecretValues({
      source: settings,
      keptMs: secretsKeptMs,
      now: () => performance.now(),
    })
    const open = createCalls(kinds, resolve)
    const { connectorCheckSeconds: everySeconds } = config
    const observe = createObserver({ database, connectors, clock, everySeconds })
    const uses = { kinds, connectors, open, observe }
    ctx.dueWork.start(checkWork({ ...uses, log, everySeconds }))
    ctx.dueWork.start(retentionWork())
    const expressions = createExpressions({ log, maxWaitMs: 5_000 })
    const keep = createInvocationLog(database, config.connectorLogDays)
    const invoke = createInvoker({ ...uses, keep, limits, spendEgress: createEgress(config, settings) })
    return {
      routes: [
        ...connectorRoutes(ctx, connectors, kinds),
        ...invocationRoutes({ database, connectors, invoke, probe: createProbe(uses) }),
        ...transformerRoutes(expressions),
        ...internalRoutes({ database, kinds, open, log }),
        dependentsRoute(database, [dependentConnectors]),
      ],
      background: [
        expressions,
        settings,
        outbound,
        http,
        ...kinds.all.map((kind) => ({ close: () => kind.close?.() })),
      ],
    }
  },
})

const outboundOf = (config: IntegrationsConfig): Promise<Outbound> =>
  openOutbound({
    caFile: config.connectorCaFile,
    allowedCidrs: config.connectorAllowedCidrs,
    deniedCidrs: config.connectorDeniedCidrs,
    allowHttp: config.connectorAllowHttp,
    streamPorts: config.connectorPorts,
  })
