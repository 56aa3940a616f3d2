import { fileURLToPath } from 'node:url'
import { type BackendContext, type BackendOverrides, type Closable, startBackend } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import { createVault } from '@opsplane/postgres'
import { createSealer, type RunningService } from '@opsplane/runtime'
import { account } from './account/domain.js'
import { createPasswords } from './account/passwords.js'
import { accountRoutes } from './account/routes.js'
import { recordAudit } from './audit/recorder.js'
import { auditRoutes } from './audit/routes.js'
import { createBootstrap } from './bootstrap.js'
import type { SettingsConfig } from './config.js'
import { internalRoutes } from './internal-routes.js'
import { createMailer } from './mail/mailer.js'
import { membership } from './membership/domain.js'
import { startMailSending } from './notification/mail-sending.js'
import { recordNotifications } from './notification/recorder.js'
import { notificationRoutes } from './notification/routes.js'
import { secret } from './secret/domain.js'
import { secretRoutes } from './secret/routes.js'
import { createSafe } from './secret/safe.js'
import { createLogin } from './session/login.js'
import { sessionRoutes } from './session/routes.js'
import { createSessions } from './session/sessions.js'
import { createThrottle } from './session/throttle.js'
import { createThrottleTable } from './session/throttle-table.js'
import { token } from './token/domain.js'
import { createKeys } from './token/keys.js'
import { tokenRoutes } from './token/routes.js'
import { createVerifier } from './token/verify.js'
import { workspace } from './workspace/domain.js'
import { workspaceRoutes } from './workspace/routes.js'

export { loadConfig, type SettingsConfig } from './config.js'

/** SQL migrations of this service's schema, for `provisionService`. */
export const migrationsDir = fileURLToPath(new URL('../migrations', import.meta.url))

/** Every kind of aggregate the service keeps, for `rebuild`. */
export const deciders = [account, workspace, membership, token, secret]

/** Tables the deciders fill beside their own: none. */
export const projectedTables: readonly string[] = []

export function start(config: SettingsConfig, overrides?: BackendOverrides): Promise<RunningService> {
  return startBackend({
    name: 'settings',
    config,
    deciders,
    routes: settingsRoutes,
    consumers: (ctx) => [recordAudit(ctx), ...notificationWork(ctx)],
    ...(overrides && { overrides }),
  })
}

/** Makes notifications, and sends mails about them where a mail server is configured. */
function notificationWork(ctx: BackendContext<SettingsConfig>): Closable[] {
  const { config, database, log, clock } = ctx
  const mailer = createMailer(config)
  const recorder = recordNotifications(ctx, { withMail: mailer !== null })
  if (mailer === null) return [recorder]
  const nowMs = () => Date.parse(clock.now())
  return [recorder, startMailSending({ database, mailer, log, nowMs })]
}

function settingsRoutes(ctx: BackendContext<SettingsConfig>): Route[] {
  const { config, database } = ctx
  const { db } = database
  const passwords = createPasswords({
    concurrency: config.passwordHashConcurrency,
    maxWaiting: config.passwordHashQueue,
  })
  const sessions = createSessions(db, config)
  const throttle = createThrottle(createThrottleTable(database.sql))
  const login = createLogin({ db, passwords, throttle, sessions, cursors: ctx.cursors })
  const keys = createKeys(ctx, config)
  const safe = createSafe(ctx, createVault(db, createSealer(config.opsplaneMasterKey)))

  return [
    ...accountRoutes(ctx, sessions),
    ...sessionRoutes(login, sessions),
    ...tokenRoutes(ctx, keys),
    ...workspaceRoutes(ctx),
    ...secretRoutes(ctx, safe),
    ...auditRoutes(ctx),
    ...notificationRoutes(ctx),
    ...internalRoutes(createVerifier({ db, sessions, keys }), safe, createBootstrap(ctx, passwords)),
  ]
}
