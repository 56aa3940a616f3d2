import {
  ApiError,
  type AppAccess,
  Environment,
  type ErrorDetail,
  KnownMembers,
  missingPermissionError,
  PermissionName,
} from '@opsplane/contracts'
import {
  type RequestMeta,
  type RequireEnvironment,
  type ServiceClient,
  validationFailed,
} from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import { widensAccess } from './domain.js'

export interface AccessChecks {
  /** Throws `validation_failed` for roles and users that do not exist in the workspace. */
  requireKnown(access: AppAccess | null, meta: RequestMeta): Promise<void>
  /**
   * A running app lends its users the permissions of its live deployments. Letting in more users therefore requires
   * `apps:deploy`, every permission of the live deployments, and a key that is valid in their environments. Throws
   * `forbidden` with the missing permissions.
   */
  requireRights(
    appId: string,
    change: { before: AppAccess | null; after: AppAccess | null },
    meta: RequestMeta,
  ): Promise<void>
}

const Live = z.object({ environment: Environment, permissions: z.array(PermissionName) })

export function createAccessChecks(
  { sql }: Database,
  {
    settings,
    requireEnvironment,
  }: { settings: Pick<ServiceClient, 'post'>; requireEnvironment: RequireEnvironment },
): AccessChecks {
  const liveOf = async (appId: string, workspaceId: string) => {
    const rows = await sql.unsafe(
      `select distinct on (environment) environment, state->'permissions' as permissions from deployments
       where workspace_id = $1 and app_id = $2 and status = 'completed' order by environment, number desc`,
      [workspaceId, appId],
      { prepare: true },
    )
    return z.array(Live).parse([...rows])
  }

  return {
    async requireKnown(access, { tenant: { workspaceId } }) {
      if (access === null) return
      const { users: userIds, roles } = access
      const known = await settings.post('/internal/members', { workspaceId, userIds, roles }, KnownMembers)
      const details = [
        ...unknown('users', userIds, known.userIds, 'unknown_user', 'is no member of the workspace'),
        ...unknown('roles', roles, known.roles, 'unknown_role', 'is no role of the workspace'),
      ]
      if (details.length > 0) throw validationFailed(details)
    },

    async requireRights(appId, { before, after }, meta) {
      if (!widensAccess(before, after)) return
      const live = await liveOf(appId, meta.tenant.workspaceId)
      if (live.length === 0) return
      const needed = new Set(['apps:deploy', ...live.flatMap(({ permissions }) => permissions)])
      const missing = [...needed].filter((each) => !meta.principal.permissions.includes(each))
      if (missing.length > 0)
        throw missingPermissionError(
          `Others would be let in to what the app does, which takes permissions you do not hold: ${missing.join(', ')}.`,
          missing,
          '/access',
        )
      for (const { environment } of live) await requireEnvironment(meta, environment, '/access')
    },
  }
}

const unknown = (
  field: string,
  names: readonly string[],
  known: readonly string[],
  code: string,
  message: string,
): ErrorDetail[] =>
  names.flatMap((name, index) =>
    known.includes(name) ? [] : [{ in: 'body', path: `/access/${field}/${index}`, code, message }],
  )

/** The error for a person who may not use an app. */
export const notSharedError = (): ApiError =>
  new ApiError('forbidden', 'You have no access to this app: it is shared with neither you nor your role.', {
    details: [
      {
        ...{ in: 'path', path: '/slug', code: 'not_shared' },
        message: 'names an app that is open to others',
      },
    ],
  })
