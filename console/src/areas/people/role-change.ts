/** What a role is to allow, compared with what it allows. */
export interface RoleChange<Permission extends string = string> {
  removed: Permission[]
  added: Permission[]
}

export function comparePermissions<Permission extends string>(
  before: readonly Permission[],
  after: readonly Permission[],
): RoleChange<Permission> {
  return {
    removed: before.filter((permission) => !after.includes(permission)),
    added: after.filter((permission) => !before.includes(permission)),
  }
}

/** Permissions by what they are about, in the order they are listed. */
export function groupPermissions<Permission extends string>(
  permissions: readonly Permission[],
): (readonly [family: string, names: Permission[]])[] {
  const families = new Map<string, Permission[]>()
  for (const permission of permissions) {
    const family = permission.split(':', 1)[0] ?? ''
    families.set(family, [...(families.get(family) ?? []), permission])
  }
  return [...families]
}

/** The first few names, and how many there are beyond them. */
export function formatSome(names: readonly string[], most = 3): { names: string; more: number } {
  return { names: names.slice(0, most).join(', '), more: Math.max(names.length - most, 0) }
}
