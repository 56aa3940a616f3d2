import { ApiError, everyEventPermission, type Permission } from '@opsplane/contracts'
import type { QueryCaller } from './types.js'

/** Throws `insufficient_scope` if the caller lacks the permission of a dataset. */
export function requireRight(
  { permissions }: Pick<QueryCaller, 'permissions'>,
  permission: Permission,
): void {
  if (permissions.includes(permission) || permissions.includes(everyEventPermission)) return
  const message = `Missing permission: ${permission}.`
  throw new ApiError('insufficient_scope', message, {
    details: [
      { in: 'body', path: '', code: 'permission_not_held', message, params: { missing: [permission] } },
    ],
  })
}
