import {
  eventPermission,
  missingPermissionError,
  missingRights,
  type Permission,
  permissions,
  referencedSecrets,
} from '@opsplane/contracts'

/** The caller who reads or changes a webhook. */
export interface Caller {
  userId: string
  permissions: readonly string[]
}

/** The parts of a webhook that determine the rights it needs. */
interface Needs {
  headers: Readonly<Record<string, string>>
  reads: readonly Permission[]
}

/** Permissions to read the events of these patterns, added to those needed before. */
export function findReadPermissions(
  patterns: readonly string[],
  before: readonly Permission[] = [],
): Permission[] {
  const needed = new Set([...before, ...patterns.map(eventPermission)])
  return permissions.filter((each) => needed.has(each))
}

/** Permissions to act as the webhook, other than reading events. */
export function findUsePermissions({ headers }: Pick<Needs, 'headers'>): Permission[] {
  const refers = Object.values(headers).some((value) => referencedSecrets(value).length > 0)
  return refers ? ['secrets:use'] : []
}

/** The permissions a user lacks to act as the webhook. `hidden`: see `missingRights`. */
export const findMissingPermissions = (held: readonly string[], needs: Needs, hidden = false): Permission[] =>
  missingRights(held, { reads: needs.reads, uses: findUsePermissions(needs) }, hidden)

/** A webhook may do only what its owner may do. Throws `forbidden` with the missing permissions. */
export function requireRights({ permissions: held }: Caller, needs: Needs): void {
  const missing = findMissingPermissions(held, needs)
  if (missing.length === 0) return
  const message = `Missing permissions for what this webhook is sent: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
