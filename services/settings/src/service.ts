import { fileURLToPath } from 'node:url'
import { ApiError, actsForUsers, type InternalParty } from '@opsplane/contracts'
import {
  type Outbound,
  openOutbound,
  type PlatformClients,
  platformClients,
  type Route,
  type ServiceClient,
} from '@opsplane/http'
import { createVault } from '@opsplane/postgres'
import { createSealer } from '@opsplane/runtime'
import {
  type BackgroundWork,
  createSubscriptionRules,
  defineService,
  type ServiceContext,
  type ServiceOverrides,
  wakeHints,
} from '@opsplane/service'
import { createAccountAccess } from './access/access.js'
import { accessRoutes } from './access/access-routes.js'
import { accountRoutes } from './access/account-routes.js'
import { createBreakGlass } from './access/break-glass.js'
import { createBrowserSignIn } from './access/browser-sign-in.js'
import { createFactorRemoval } from './access/factor-removal.js'
import { createPasswordReset, createResetSignIn } from './access/password-reset.js'
import { resetLinkRoutes } from './access/reset-link-routes.js'
import { createResetLinks } from './access/reset-links.js'
import { sessionRoutes } from './access/session-routes.js'
import { signInRoutes } from './access/sign-in-routes.js'
import { createTokenCheck } from './access/token-check.js'
import { createVerifier } from './access/verify.js'
import { account } from './account/domain.js'
import { createPasswords, type PasswordCost } from './account/passwords.js'
import { auditChainRoutes } from './audit/chain-routes.js'
import { createCheckpointSigner } from './audit/checkpoint.js'
import { checkpointWork } from './audit/checkpoints.js'
import { auditExport } from './audit/export.js'
import { createChanges } from './audit/live/changes.js'
import { eventStreamRoutes } from './audit/live/routes.js'
import { createAuditTails } from './audit/live/tails.js'
import { recordAudit } from './audit/recorder.js'
import { auditRoutes } from './audit/routes.js'
import { verifyAllChains } from './audit/verify-all-chains.js'
import { createBootstrap } from './bootstrap.js'
import { budgetRoutes } from './budget/routes.js'
import { loadConfig, type SettingsConfig } from './config.js'
import { createDelegations } from './delegation/delegations.js'
import { createIdentifyCaller } from './delegation/identify-caller.js'
import { delegationRoutes } from './delegation/routes.js'
import { createAnswerChallenge } from './factor/answer-challenge.js'
import { createAnswerSignIn } from './factor/answer-sign-in.js'
import { createChallenges } from './factor/challenges.js'
import { createFactors } from './factor/factors.js'
import { createPasskeySignIn } from './factor/passkey-sign-in.js'
import { createProofs } from './factor/proofs.js'
import { resolveRelyingParty } from './factor/relying-party.js'
import { createChallengeLogin, createRequireFactor } from './factor/require-factor.js'
import { factorRoutes } from './factor/routes.js'
import { internalRoutes } from './internal-routes.js'
import { measureLastBackup } from './last-backup.js'
import { createComposer } from './mail/compose.js'
import { mailSending } from './mail/mail-sending.js'
import { createMailer } from './mail/mailer.js'
import { createAccept } from './membership/acceptance.js'
import { createFindDependents } from './membership/dependents.js'
import { membership } from './membership/domain.js'
import { createInvite } from './membership/invitations.js'
import { createMembers } from './membership/members.js'
import { createRemovals } from './membership/removal.js'
import { membershipRoutes } from './membership/routes.js'
import { createTransferDependents } from './membership/transfer-dependents.js'
import { recordNotifications } from './notification/recorder.js'
import { notificationRoutes } from './notification/routes.js'
import { createOperatedServices } from './operator/operated-services.js'
import { createOperators } from './operator/operators.js'
import { operatorRoutes } from './operator/routes.js'
import { createStatusClient } from './operator/status-client.js'
import { identityProvider } from './provider/domain.js'
import { identity } from './provider/identity.js'
import { ssoRoutes } from './provider/sso.js'
import { createResolve } from './resolve/resolve.js'
import { resolveRoutes } from './resolve/routes.js'
import { role } from './role/domain.js'
import { createRoleReader } from './role/role-reader.js'
import { createRoles } from './role/roles.js'
import { roleRoutes } from './role/routes.js'
import { secret } from './secret/domain.js'
import { secretRoutes } from './secret/routes.js'
import { createSecretService } from './secret/secret-service.js'
import { createSecretTargets } from './secret/targets.js'
import { createSecretUsage } from './secret/usage.js'
import { createIdentify, createLogin } from './session/login.js'
import { createLoginFailures } from './session/login-failures.js'
import { createSessions } from './session/sessions.js'
import { createCompleteSignIn } from './session/sign-in.js'
import { createRecordSignIn } from './session/sign-in-devices.js'
import { createThrottle } from './session/throttle.js'
import { createThrottleTable } from './session/throttle-table.js'
import { createSingleUse } from './single-use-calls.js'
import { token } from './token/domain.js'
import { expiringKeys } from './token/expiry.js'
import { createKeys } from './token/keys.js'
import { tokenRoutes } from './token/routes.js'
import { workspace } from './workspace/domain.js'
import { workspaceLock } from './workspace/lock.js'
import { workspaceRoutes } from './workspace/routes.js'
import { createSignInPolicies } from './workspace/sign-in-policy.js'

/** Parts that tests can replace. */
export interface SettingsOverrides extends ServiceOverrides {
  actsForUsers?: readonly InternalParty[]
  /** Cost of new hashes; reduced in tests that do not measure hashing. */
  passwordCost?: PasswordCost
}

export const settings = defineService<SettingsConfig, SettingsOverrides>({
  name: 'settings',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [account, workspace, membership, role, token, secret, auditExport, identityProvider, identity],
  prove: verifyAllChains,
  searchesTexts: true,
  async setup(ctx, overrides) {
    const parts = createParts(ctx, await openProviderOutbound(ctx.config))
    measureLastBackup(ctx)
    ctx.dueWork.start(expiringKeys(ctx))
    return {
      routes: [
        ...settingsRoutes(ctx, parts, overrides.passwordCost),
        ...delegationRoutes(createDelegations(ctx), overrides.actsForUsers ?? actsForUsers).map(
          parts.singleUse,
        ),
      ],
      background: [
        ...parts.neighbours.values(),
        parts.outbound,
        parts.usage,
        parts.failures,
        ...auditWork(ctx, parts),
        ...mailWork(ctx, parts),
      ],
      onDrain: parts.live.tails.end,
    }
  },
})

type Context = ServiceContext<SettingsConfig>
type Parts = ReturnType<typeof createParts>

/** Parts shared by routes and background work. */
function createParts(ctx: Context, outbound: Outbound) {
  const { config, database, relay, clock, log, link, names } = ctx
  const { db } = database
  const nowMs = () => Date.parse(clock.now())
  const sealer = createSealer(config.opsplaneMasterKey, config.opsplanePreviousMasterKeys)
  log.info({ keyIds: sealer.keyIds }, 'master keys, the present one first')
  return {
    outbound,
    vault: createVault(db, sealer),
    neighbours: createServiceClients(ctx),
    mailer: createMailer(config),
    signer: createCheckpointSigner(config.auditSigningKey),
    singleUse: createSingleUse(database),
    usage: createSecretUsage({ db, log, nowMs }),
    failures: createLoginFailures({ database, relay, log, nowMs }),
    live: {
      tails: createAuditTails({ sql: database.sql, hints: wakeHints(link, names, 'settings'), log }),
      changes: createChanges({ link, names }),
    },
  }
}

/** The outbound guard for requests to identity providers. */
const openProviderOutbound = (config: SettingsConfig): Promise<Outbound> =>
  openOutbound({
    caFile: config.ssoCaFile,
    allowedCidrs: config.ssoAllowedCidrs,
    deniedCidrs: config.ssoDeniedCidrs,
    allowHttp: config.ssoAllowHttp,
  })

/** Clients of all other services. */
function createServiceClients(ctx: Context): PlatformClients {
  const { settings: _, ...serviceUrls } = ctx.config.serviceUrls
  return platformClients({ ...ctx, config: { serviceUrls } })
}

/** If the studio's address is not configured, calls fail with `service_unavailable`. */
function getStudioClient(neighbours: PlatformClients): Pick<ServiceClient, 'post'> {
  const away = () =>
    Promise.reject(new ApiError('service_unavailable', 'The database studio is not available.'))
  return neighbours.get('database-studio') ?? { post: away }
}

/** Fills and signs the audit log. */
function auditWork(ctx: Context, { signer, live: { tails, changes } }: Parts): BackgroundWork[] {
  ctx.dueWork.start(checkpointWork(signer))
  return [recordAudit(ctx, tails), tails, changes]
}

/** Creates notifications, and sends mails if a mail server is configured. */
function mailWork(ctx: Context, { mailer, vault }: Parts): BackgroundWork[] {
  const { database, clock, log } = ctx
  const { publicOrigin } = ctx.config
  const compose = createComposer({ vault, db: database.db, clock, publicOrigin })
  if (mailer !== null) ctx.dueWork.start(mailSending({ database, mailer, compose, log }))
  return recordNotifications(ctx, { withMail: mailer !== null })
}

function settingsRoutes(ctx: Context, parts: Parts, passwordCost?: PasswordCost): Route[] {
  const { mailer, signer, usage, failures, vault, singleUse, neighbours, outbound, live } = parts
  const { config, database } = ctx
  const { db } = database
  const passwords = createPasswords(
    { concurrency: config.passwordHashConcurrency, maxWaiting: config.passwordHashQueue },
    passwordCost,
  )
  const operators = createOperators(config.operators)
  const withMail = mailer !== null
  const sessions = createSessions(ctx, config, createRecordSignIn({ withMail }))
  const throttle = createThrottle(createThrottleTable(database.sql))
  const { cursors } = ctx
  const party = resolveRelyingParty(config.publicOrigin)
  const challenges = createChallenges(db)
  const challengeLogin = createChallengeLogin({ db, challenges, party })
  const proofs = createProofs(ctx, { vault, party })
  const answerChallenge = createAnswerChallenge({ db, challenges, proofs, throttle, failures })
  const requireFactor = createRequireFactor(challengeLogin)
  const completeSignIn = createCompleteSignIn({ db, sessions, cursors, requireFactor })
  const passkeySignIn = createPasskeySignIn({ database, cursors, proofs, throttle, failures, party })
  const identify = createIdentify({ db, passwords, throttle, failures })
  const login = createLogin(identify, completeSignIn)
  const keys = createKeys(ctx, config)
  const secretService = createSecretService(ctx, vault, usage)
  const serialized = workspaceLock(ctx)
  const members = createMembers(ctx, serialized)
  const invite = createInvite(ctx, {
    ...{ members, serialized, vault, withMail, publicOrigin: config.publicOrigin },
  })
  const accept = createAccept(ctx, { members, serialized, passwords, throttle, identify, completeSignIn })

  const findDependents = createFindDependents({ db, neighbours, log: ctx.log })
  const delegations = createDelegations(ctx)
  const removal = createRemovals({
    ...{ members, findDependents },
    transferDependents: createTransferDependents({ db, neighbours, delegations, findDependents }),
  })
  const checkToken = createTokenCheck({ db, throttle })
  const access = createAccountAccess(ctx, {
    ...{ passwords, throttle, sessions, members, checkToken, withMail, challengeLogin, answerChallenge },
  })
  const resetPassword = createPasswordReset(ctx, { passwords, sessions, members, operators, checkToken })
  const signInByReset = createResetSignIn({ resetPassword, completeSignIn })
  const { publicOrigin } = config
  const resetLinks = createResetLinks(ctx, { members, operators, withMail, publicOrigin })
  const answer = createAnswerSignIn({ answerChallenge, passkeySignIn, completeSignIn })
  const factors = createFactors(ctx, { vault, sessions, challenges, party, withMail })

  const operated = createOperatedServices(ctx.operations, neighbours)
  const statusClient = createStatusClient({ operated, neighbours, log: ctx.log })

  return [
    ...accountRoutes(ctx, sessions),
    ...accessRoutes(access, resetPassword),
    ...resetLinkRoutes(resetLinks),
    ...operatorRoutes(ctx, operated, statusClient),
    ...signInRoutes({
      ...{ login, answer, passkeySignIn },
      signIn: createBrowserSignIn({ login, accept, answer, signInByReset }),
    }),
    ...sessionRoutes({ sessions, members, cursors }),
    ...factorRoutes(factors, createFactorRemoval(ctx, { factors, members, operators })),
    ...tokenRoutes(ctx, keys),
    ...workspaceRoutes(ctx, createSignInPolicies(ctx, { serialized, sessions }), statusClient),
    ...membershipRoutes(ctx, { members, removal, invite, accept }),
    ...ssoRoutes(ctx, {
      ...{ vault, outbound, throttle, sessions, members, serialized, completeSignIn },
      place: { publicOrigin: config.publicOrigin, domains: config.ssoDomains },
    }),
    ...roleRoutes(createRoles(ctx, serialized), createRoleReader(ctx)),
    ...secretRoutes(ctx, secretService),
    ...auditRoutes(ctx),
    ...eventStreamRoutes(live, createSubscriptionRules(getStudioClient(neighbours))),
    ...auditChainRoutes(ctx, signer),
    ...resolveRoutes(createResolve({ db, neighbours, delegations })),
    ...notificationRoutes(ctx),
    ...budgetRoutes(database).map(singleUse),
    ...internalRoutes({
      db,
      secretService,
      secretTargets: createSecretTargets(ctx),
      identifyCaller: createIdentifyCaller({ db, config }),
      tokens: createVerifier({ db, sessions, keys, operators, recordBreakGlass: createBreakGlass(ctx) }),
      bootstrap: createBootstrap(ctx, passwords),
      singleUse,
    }),
  ]
}
