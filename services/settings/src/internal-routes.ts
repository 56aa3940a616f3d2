import {
  Bootstrap,
  Bootstrapped,
  ConfirmedTokens,
  EnvironmentScope,
  EnvironmentScopeQuestion,
  ExecutionRetention,
  KnownMembers,
  MembersQuestion,
  ResolvedSecrets,
  RetentionQuestion,
  Rights,
  RightsQuestion,
  SecretResolution,
  SecretTargetProblems,
  SecretTargetsQuestion,
  TokenConfirmation,
  TokenVerification,
  VerifiedToken,
} from '@opsplane/contracts'
import { callingService, defineRoute, type Route } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { Verifier } from './access/verify.js'
import type { RunBootstrap } from './bootstrap.js'
import type { createIdentifyCaller } from './delegation/identify-caller.js'
import { findMembers } from './membership/queries.js'
import { findActiveMembers } from './role/member-rights.js'
import { findRoles } from './role/queries.js'
import type { SecretService } from './secret/secret-service.js'
import type { SecretTargets } from './secret/targets.js'
import type { SingleUse } from './single-use-calls.js'
import { findKeyEnvironments } from './token/key-environments.js'
import { executionRetention } from './workspace/retention.js'

const internal = { method: 'post', tag: 'Internal', scope: 'service', idempotency: 'none' } as const

export interface InternalRouteOptions {
  db: Drizzle
  tokens: Verifier
  secretService: SecretService
  secretTargets: SecretTargets
  identifyCaller: ReturnType<typeof createIdentifyCaller>
  bootstrap: RunBootstrap
  singleUse: SingleUse
}

/** Operations for other services. The gateway routes none of them. */
export function internalRoutes({
  db,
  tokens,
  secretService,
  secretTargets,
  identifyCaller,
  bootstrap,
  singleUse,
}: InternalRouteOptions): Route[] {
  return [
    defineRoute({
      ...internal,
      operationId: 'verifyToken',
      path: '/internal/tokens/verify',
      callers: ['gateway'],
      summary: 'Verify a token and get its principal',
      body: TokenVerification,
      response: VerifiedToken,
      errors: ['invalid_token', 'token_expired', 'workspace_forbidden', 'environment_forbidden'],
      handler: ({ body, meta }) => tokens.verify(body, meta),
    }),

    defineRoute({
      ...internal,
      operationId: 'confirmTokens',
      path: '/internal/tokens/confirm',
      callers: ['gateway'],
      summary: 'Get the current rights of several tokens',
      description: 'Used for the tokens of open streams.',
      body: TokenConfirmation,
      response: ConfirmedTokens,
      handler: ({ body, meta }) => tokens.confirm(body.questions, meta),
    }),

    singleUse(
      defineRoute({
        ...internal,
        operationId: 'resolveSecrets',
        path: '/internal/secrets/resolve',
        callers: ['dispatcher', 'integrations', 'workflows', 'sdk'],
        summary: 'Get the values of secrets',
        description:
          'Returns the secrets that the person may use, limited to the hosts to which they may be sent. Counts as a ' +
          'use of each returned secret.',
        body: SecretResolution,
        response: ResolvedSecrets,
        handler: ({ body, meta }) =>
          secretService.resolve(body, { service: callingService(meta.principal), now: meta.now }),
      }),
    ),

    singleUse(
      defineRoute({
        ...internal,
        operationId: 'checkSecretTargets',
        path: '/internal/secrets/targets',
        callers: ['dispatcher', 'integrations', 'workflows', 'sdk'],
        summary: 'Check the secrets that a definition references',
        description:
          'Checks on behalf of the person who saves the definition. With `admit`, adds the hosts of the definition if ' +
          'the person has `secrets:write` and has signed in recently.',
        body: SecretTargetsQuestion,
        response: SecretTargetProblems,
        errors: [
          'forbidden',
          'step_up_required',
          'environment_forbidden',
          'invalid_token',
          'token_expired',
          'conflict',
          'version_conflict',
        ],
        handler: async ({ body, meta }) => {
          const { principal } = await identifyCaller(body, callingService(meta.principal))
          const { workspaceId, actor } = principal
          const tenant = { workspaceId, environment: body.environment }
          return secretTargets({ ...body, principal }, { ...meta, actor, tenant })
        },
      }),
    ),

    defineRoute({
      ...internal,
      operationId: 'getRights',
      path: '/internal/rights',
      callers: ['dispatcher', 'workflows', 'sdk', 'analytics', 'apps'],
      summary: 'Get the current permissions and roles of users',
      body: RightsQuestion,
      response: Rights,
      handler: async ({ body: { workspaceId, userIds } }) => {
        const members = [...(await findActiveMembers(db, workspaceId, userIds))]
        return {
          permissions: Object.fromEntries(members.map(([id, { permissions }]) => [id, permissions])),
          roles: Object.fromEntries(members.map(([id, { role }]) => [id, role])),
        }
      },
    }),

    defineRoute({
      ...internal,
      operationId: 'getKnownMembers',
      path: '/internal/members',
      callers: ['itsm', 'apps', 'workflows'],
      summary: 'Find existing members and roles',
      body: MembersQuestion,
      response: KnownMembers,
      handler: async ({ body: { workspaceId, userIds, roles } }) => ({
        userIds: await findMembers(db, workspaceId, userIds),
        roles: await findRoles(db, workspaceId, roles),
      }),
    }),

    defineRoute({
      ...internal,
      operationId: 'getReach',
      path: '/internal/environment-scope',
      callers: ['workflows', 'database-studio', 'apps'],
      summary: 'Get the environments a credential is valid in',
      body: EnvironmentScopeQuestion,
      response: EnvironmentScope,
      handler: async ({ body }) => ({ environments: await findKeyEnvironments(db, body) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'getExecutionRetention',
      path: '/internal/retention',
      callers: ['workflows', 'sdk'],
      summary: 'Get the retention of runs and executions in days',
      body: RetentionQuestion,
      response: ExecutionRetention,
      handler: async ({ body: { workspaceIds } }) => ({ days: await executionRetention(db, workspaceIds) }),
    }),

    defineRoute({
      ...internal,
      operationId: 'bootstrap',
      path: '/internal/bootstrap',
      callers: ['operator'],
      summary: 'Create a workspace and its owner',
      body: Bootstrap,
      response: Bootstrapped,
      errors: ['conflict'],
      handler: ({ body, meta }) => bootstrap(body, meta),
    }),
  ]
}
