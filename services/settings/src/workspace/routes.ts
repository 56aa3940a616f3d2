import {
  NewSignInPolicy,
  NewWorkspace,
  notFound,
  type Principal,
  SignInPolicy,
  Workspace,
  WorkspaceAccess,
  WorkspacePatch,
  WorkspaceStats,
  WorkspaceStatus,
} from '@opsplane/contracts'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { SettingsConfig } from '../config.js'
import type { StatusClient } from '../operator/status-client.js'
import { workspaceStatus } from '../operator/workspace-status.js'
import { accessibleWorkspaces, currentWorkspace } from '../tenant/queries.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { requireEveryEnvironment } from '../token/key-environments.js'
import { createWorkspaces } from './create-workspaces.js'
import { workspace } from './domain.js'
import type { SignInPolicies } from './sign-in-policy.js'
import { workspaceStats } from './stats.js'

const tag = 'Workspaces'

const route = defineResource({
  name: 'Workspace',
  path: '/workspaces',
  key: 'slug',
  tag,
  read: 'authenticated',
  write: 'authenticated',
  response: WorkspaceAccess,
})

/** Routes for the caller's workspaces, and to read and change the workspace of a request. */
export function workspaceRoutes(
  ctx: ServiceContext<SettingsConfig>,
  policies: SignInPolicies,
  statusClient: StatusClient,
): Route[] {
  const { store, database, cursors } = ctx
  const create = createWorkspaces(ctx)
  const workspaces = store.aggregate(workspace)
  return [
    route.list({
      summary: 'List the workspaces you can access',
      description:
        'For an API key, returns only the workspace that the key belongs to. Requires no X-Workspace.',
      workspace: 'none',
      sorts: ['-createdAt'],
      handler: ({ query: { limit, after }, binding, meta: { principal } }) =>
        accessibleWorkspaces(database.db, {
          userId: principal.userId,
          tokenId: principal.tokenId,
          ...{ limit, after, binding, cursors },
        }),
    }),

    route.create({
      summary: 'Create a workspace',
      description:
        'You become the owner of the workspace; send its slug as X-Workspace to use it. The request itself requires ' +
        'no X-Workspace. An API key requires `workspace:write` in every environment, and is not valid in the new ' +
        'workspace. Emits `workspace.created` and `user.activated` in the new workspace.',
      workspace: 'none',
      body: NewWorkspace,
      errors: ['insufficient_scope', 'conflict', 'quota_exceeded'],
      handler: ({ body, meta }) => create(body, meta),
    }),

    defineRoute({
      operationId: 'getCurrentWorkspace',
      method: 'get',
      path: '/workspaces/me',
      summary: 'Get the current workspace',
      description: 'Returns the workspace of X-Workspace, with the role of the user in it.',
      tag,
      scope: 'workspace:read',
      response: WorkspaceAccess,
      errors: ['not_found'],
      handler: async ({ meta }) => {
        const current = await currentWorkspace(database.db, meta.principal)
        if (current === null) throw notFound()
        return current
      },
    }),

    route.update({
      summary: 'Update the current workspace',
      description:
        'Changes the given fields. The slug must be that of X-Workspace. Emits `workspace.updated`.',
      scope: 'workspace:write',
      body: WorkspacePatch,
      response: Workspace,
      errors: ['forbidden'],
      handler: async ({ params, body, meta }) => {
        const id = currentId(params.slug, meta.principal)
        await requireEveryEnvironment(database.db, meta.principal)
        const command = { kind: 'update' as const, patch: body, now: meta.now }
        return workspaces.handle(id, command, { ...meta, tenant: workspaceScope(id) })
      },
    }),

    defineRoute({
      operationId: 'getSignInPolicy',
      method: 'get',
      path: '/settings/sign-in-policy',
      summary: 'Get the sign-in policy of the workspace',
      description: 'Returns the setting for the users who need a second factor.',
      tag,
      scope: 'workspace:read',
      response: SignInPolicy,
      errors: ['not_found'],
      handler: ({ meta }) => policies.get(meta),
    }),

    defineRoute({
      operationId: 'setSignInPolicy',
      stepUp: true,
      method: 'put',
      path: '/settings/sign-in-policy',
      summary: 'Set the sign-in policy of the workspace',
      description:
        'Requires all users, or those with one of the given roles, to use a session that has proven a second factor; ' +
        'single sign-on counts as one. Takes effect within a second: other sessions receive ' +
        '`factor_enrolment_required`. API keys keep their scopes, and creating an API key requires such a session. ' +
        'Allowed for owners, in a session that meets the policy. Emits `workspace.updated`.',
      tag,
      scope: 'workspace:write',
      body: NewSignInPolicy,
      response: SignInPolicy,
      errors: ['not_found', 'forbidden'],
      handler: ({ body, meta }) => policies.set(body, meta),
    }),

    defineRoute({
      operationId: 'getWorkspaceStats',
      method: 'get',
      path: '/workspaces/:slug/stats',
      summary: 'Get statistics of the current workspace',
      description:
        'Returns the number of members and keys of the workspace, and of secrets, resources of each kind and events ' +
        'of the environment. The slug must be that of X-Workspace.',
      tag,
      scope: 'workspace:read',
      response: WorkspaceStats,
      handler: async ({ params, meta }) => {
        currentId(params.slug, meta.principal)
        return workspaceStats(database.db, meta.tenant, meta.now)
      },
    }),

    defineRoute({
      operationId: 'getWorkspaceStatus',
      method: 'get',
      path: '/workspaces/:slug/status',
      summary: 'Get the status of the current workspace',
      description:
        'Covers all environments of the workspace: events that wait for publication, dead letters by consumer and ' +
        'cause, due work, and webhooks that wait or are paused. A service that does not respond within three seconds ' +
        'is marked as such. Operators of the installation redrive and drop dead letters. The slug must be that of ' +
        'X-Workspace, and an API key must be valid in every environment.',
      tag,
      scope: 'workspace:write',
      response: WorkspaceStatus,
      errors: ['forbidden'],
      handler: async ({ params, meta }) => {
        const id = currentId(params.slug, meta.principal)
        await requireEveryEnvironment(database.db, meta.principal)
        return workspaceStatus(statusClient, id)
      },
    }),
  ]
}

/** Throws `not_found` for a slug other than that of the current workspace. */
function currentId(slug: string, { workspaceId, workspaceSlug }: Principal): string {
  if (workspaceId === undefined || slug !== workspaceSlug) throw notFound()
  return workspaceId
}
