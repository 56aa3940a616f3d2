import type { Principal } from '@opsplane/contracts'
import { or, type SQL, sql } from 'drizzle-orm'
import { hasUsePermission, mayBuild } from '../access/domain.js'
import { apps as table } from './tables.js'

/**
 * SQL condition for the apps a person may use or build, equivalent to `mayUse` and `mayBuild`; `undefined` if all of
 * them.
 */
export function visibleTo(principal: Principal): SQL | undefined {
  if (mayBuild(principal)) return undefined
  const { actor, userId, role } = principal
  const isOpen = sql`${table.state}->>'access' is null`
  const names = (access: object) =>
    sql`(${table.state}->'access')::jsonb @> ${JSON.stringify(access)}::text::jsonb`
  const isNamed = [names({ users: [userId] }), ...(role === undefined ? [] : [names({ roles: [role] })])]
  if (hasUsePermission(principal)) return or(isOpen, ...isNamed)
  return actor.type === 'user' ? or(...isNamed) : sql`false`
}
