import {
  eventPermission,
  missingPermissionError,
  missingRights,
  type Permission,
  permissions,
  referencedSecrets,
} from '@opsplane/contracts'

/** Who wants something of a webhook. */
export interface Caller {
  userId: string
  permissions: readonly string[]
}

/** What of a webhook decides about the rights it needs. */
interface Needs {
  headers: Readonly<Record<string, string>>
  reads: readonly Permission[]
}

/** What reading the events of these patterns takes, in addition to what was needed before. */
export function findReadPermissions(
  patterns: readonly string[],
  before: readonly Permission[] = [],
): Permission[] {
  const needed = new Set([...before, ...patterns.map(eventPermission)])
  return permissions.filter((each) => needed.has(each))
}

/** Whatever else it takes to act as the webhook does. */
export function findUsePermissions({ headers }: Pick<Needs, 'headers'>): Permission[] {
  const refers = Object.values(headers).some((value) => referencedSecrets(value).length > 0)
  return refers ? ['secrets:use'] : []
}

/** The permissions a user lacks to act as the webhook does. `hidden`: as `missingRights` has it. */
export const findMissingPermissions = (held: readonly string[], needs: Needs, hidden = false): Permission[] =>
  missingRights(held, { reads: needs.reads, uses: findUsePermissions(needs) }, hidden)

/** A webhook does nothing its owner may not do. Throws `forbidden` naming what is missing. */
export function requireRights({ permissions: held }: Caller, needs: Needs): void {
  const missing = findMissingPermissions(held, needs)
  if (missing.length === 0) return
  const message = `Missing permissions for what this webhook is sent: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
