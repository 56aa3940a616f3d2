import type { AppAccess, Principal } from '@opsplane/contracts'

type Person = Pick<Principal, 'actor' | 'userId' | 'role' | 'permissions'>

/** Access list of an app; `undefined` in states stored before access lists existed. */
type Access = AppAccess | null | undefined

/** People who build apps see every app: each of these permissions is enough. */
const building = ['apps:write', 'apps:deploy']

export const mayBuild = ({ permissions }: Pick<Person, 'permissions'>): boolean =>
  building.some((permission) => permissions.includes(permission))

export const hasUsePermission = ({ permissions }: Pick<Person, 'permissions'>): boolean =>
  permissions.includes('apps:use')

/**
 * Whether a person may use an app: by `apps:use` if the app has no access list, otherwise because the list names
 * their role or id. An API key is limited to its scopes, so it needs `apps:use` in either case.
 */
export function mayUse(access: Access, person: Person): boolean {
  if (!access) return hasUsePermission(person)
  const { roles, users } = access
  const isNamed = users.includes(person.userId) || (person.role !== undefined && roles.includes(person.role))
  return isNamed && (hasUsePermission(person) || person.actor.type === 'user')
}

/** Whether a change lets in anyone who had no access before. */
export function widensAccess(before: Access, after: Access): boolean {
  if (!before || !after) return Boolean(before) !== Boolean(after)
  const isNew = (known: readonly string[]) => (name: string) => !known.includes(name)
  return after.roles.some(isNew(before.roles)) || after.users.some(isNew(before.users))
}
