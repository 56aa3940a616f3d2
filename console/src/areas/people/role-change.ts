/** Difference between the new and the current permissions of a role. */
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

/** Groups permissions by resource, in their original order. */
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

/** The first `maxNames` names, and the number of remaining names. */
export function formatSome(names: readonly string[], maxNames = 3): { names: string; more: number } {
  return { names: names.slice(0, maxNames).join(', '), more: Math.max(names.length - maxNames, 0) }
}
