import { missingRights, type NeededRights, permissionNotHeld } from '@opsplane/contracts'

/** Throws `forbidden` naming what is missing: a workflow does nothing its owner may not do. */
export function requireRights(
  { permissions }: { permissions: readonly string[] },
  needs: NeededRights,
): void {
  const missing = missingRights(permissions, needs)
  if (missing.length === 0) return
  const message = `What this workflow does takes permissions you do not hold: ${missing.join(', ')}.`
  throw permissionNotHeld(message, missing)
}
