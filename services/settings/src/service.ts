import { fileURLToPath } from 'node:url'
import { type BackendContext, type BackendOverrides, type Closable, startBackend } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import { createVault } from '@opsplane/postgres'
import { createSealer, type RunningService } from '@opsplane/runtime'
import { account } from './account/domain.js'
import { createPasswords } from './account/passwords.js'
import { accountRoutes } from './account/routes.js'
import { auditChainRoutes } from './audit/chain-routes.js'
import { createCheckpointSigner } from './audit/checkpoint.js'
import { startCheckpoints } from './audit/checkpoints.js'
import { auditExport } from './audit/export.js'
import { recordAudit } from './audit/recorder.js'
import { auditRoutes } from './audit/routes.js'
import { createBootstrap } from './bootstrap.js'
import type { SettingsConfig } from './config.js'
import { internalRoutes } from './internal-routes.js'
import { createComposer } from './mail/compose.js'
import { startMailSending } from './mail/mail-sending.js'
import { createMailer } from './mail/mailer.js'
import { createAccept } from './membership/acceptance.js'
import { membership } from './membership/domain.js'
import { createInvite } from './membership/invitations.js'
import { createMembers } from './membership/members.js'
import { membershipRoutes } from './membership/routes.js'
import { recordNotifications } from './notification/recorder.js'
import { notificationRoutes } from './notification/routes.js'
import { role } from './role/domain.js'
import { createRoles } from './role/roles.js'
import { roleRoutes } from './role/routes.js'
import { secret } from './secret/domain.js'
import { secretRoutes } from './secret/routes.js'
import { createSafe } from './secret/safe.js'
import { createSecretUsage } from './secret/usage.js'
import { createEnter } from './session/enter.js'
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
import { workspaceTurns } from './workspace/turn.js'

export { loadConfig, type SettingsConfig } from './config.js'

/** SQL migrations of this service's schema, for `provisionService`. */
export const migrationsDir = fileURLToPath(new URL('../migrations', import.meta.url))

/** Every kind of aggregate the service keeps, for `rebuild`. */
export const deciders = [account, workspace, membership, role, token, secret, auditExport]

/** Tables the deciders fill beside their own: none. */
export const projectedTables: readonly string[] = []

export function start(config: SettingsConfig, overrides?: BackendOverrides): Promise<RunningService> {
  const opened: Closable[] = []
  return startBackend({
    name: 'settings',
    config,
    deciders,
    searchesTexts: true,
    routes: (ctx) => settingsRoutes(ctx, opened),
    extraReleasers(_ctx, releasers) {
      for (const part of opened) releasers.add('uses of secrets', () => part.close())
    },
    consumers: (ctx) => [...auditWork(ctx), ...mailWork(ctx)],
    ...(overrides && { overrides }),
  })
}

/** Fills the audit log, and signs what it is. */
function auditWork(ctx: BackendContext<SettingsConfig>): Closable[] {
  const { config, database, log, clock } = ctx
  const signer = createCheckpointSigner(config.servicePrivateKey)
  return [recordAudit(ctx), startCheckpoints({ db: database.db, signer, log, now: () => clock.now() })]
}

/** Makes notifications, and sends mails where a mail server is configured. */
function mailWork(ctx: BackendContext<SettingsConfig>): Closable[] {
  const { config, database, log, clock } = ctx
  const mailer = createMailer(config)
  const recorder = recordNotifications(ctx, { withMail: mailer !== null })
  if (mailer === null) return [recorder]
  const nowMs = () => Date.parse(clock.now())
  const compose = createComposer(createVault(database.db, sealerOf(config)))
  return [recorder, startMailSending({ database, mailer, compose, log, nowMs })]
}

function sealerOf({ opsplaneMasterKey, opsplanePreviousMasterKeys }: SettingsConfig) {
  return createSealer(opsplaneMasterKey, opsplanePreviousMasterKeys)
}

/** `opened` gets what is to be closed once no request is left. */
function settingsRoutes(ctx: BackendContext<SettingsConfig>, opened: Closable[]): Route[] {
  const { config, database, log } = ctx
  const { db } = database
  const passwords = createPasswords({
    concurrency: config.passwordHashConcurrency,
    maxWaiting: config.passwordHashQueue,
  })
  const sessions = createSessions(db, config)
  const enter = createEnter({ db, sessions, cursors: ctx.cursors })
  const throttle = createThrottle(createThrottleTable(database.sql))
  const login = createLogin({ db, passwords, throttle, enter })
  const keys = createKeys(ctx, config)
  const sealer = sealerOf(config)
  log.info({ keyIds: sealer.keyIds }, 'master keys, the present one first')
  const usage = createSecretUsage({ db, log, nowMs: () => Date.parse(ctx.clock.now()) })
  opened.push(usage)
  const vault = createVault(db, sealer)
  const safe = createSafe(ctx, vault, usage)
  const takeTurn = workspaceTurns(ctx)
  const members = createMembers(ctx, takeTurn)
  const withMail = createMailer(config) !== null
  const invite = createInvite(ctx, { members, takeTurn, vault, withMail })
  const accept = createAccept(ctx, { members, takeTurn, passwords, throttle, login, enter })

  return [
    ...accountRoutes(ctx, sessions),
    ...sessionRoutes(login, sessions),
    ...tokenRoutes(ctx, keys),
    ...workspaceRoutes(ctx),
    ...membershipRoutes(ctx, { members, invite, accept }),
    ...roleRoutes(createRoles(ctx, takeTurn)),
    ...secretRoutes(ctx, safe),
    ...auditRoutes(ctx),
    ...auditChainRoutes(ctx, createCheckpointSigner(config.servicePrivateKey)),
    ...notificationRoutes(ctx),
    ...internalRoutes(createVerifier({ db, sessions, keys }), safe, createBootstrap(ctx, passwords)),
  ]
}
