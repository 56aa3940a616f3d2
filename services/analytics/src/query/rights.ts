import { ApiError, everyEventPermission, type Permission } from '@opsplane/contracts'
import type { QueryCaller } from './types.js'

/** Throws `insufficient_scope` where the caller may not read what a dataset is about. */
export function requireRight(
  { permissions }: Pick<QueryCaller, 'permissions'>,
  permission: Permission,
): void {
  if (!permissions.includes(permission) && !permissions.includes(everyEventPermission))
    throw new ApiError('insufficient_scope', `What is asked about takes the permission ${permission}.`)
}
