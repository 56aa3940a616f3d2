import type { AppAccess, Principal } from '@opsplane/contracts'

type Person = Pick<Principal, 'actor' | 'userId' | 'role' | 'permissions'>

/** Of an app; undefined in states from before apps had it. */
type Access = AppAccess | null | undefined

/** What makes a person see every app: they build them. */
const building = ['apps:write', 'apps:deploy']

export const mayBuild = ({ permissions }: Pick<Person, 'permissions'>): boolean =>
  building.some((permission) => permissions.includes(permission))

export const hasUsePermission = ({ permissions }: Pick<Person, 'permissions'>): boolean =>
  permissions.includes('apps:use')

/**
 * Whether a person may use an app: by `apps:use` where it is open to all who hold that, and else by their role or id. An API
 * key does no more than its scopes say, so it needs `apps:use` in either case.
 */
export function mayUse(access: Access, person: Person): boolean {
  if (!access) return hasUsePermission(person)
  const { roles, users } = access
  const isNamed = users.includes(person.userId) || (person.role !== undefined && roles.includes(person.role))
  return isNamed && (hasUsePermission(person) || person.actor.type === 'user')
}

/** Whether a change lets in anyone who was not let in before. */
export function widensAccess(before: Access, after: Access): boolean {
  if (!before || !after) return Boolean(before) !== Boolean(after)
  const isNew = (known: readonly string[]) => (name: string) => !known.includes(name)
  return after.roles.some(isNew(before.roles)) || after.users.some(isNew(before.users))
}
