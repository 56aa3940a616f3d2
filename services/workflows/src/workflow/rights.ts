import {
  missingRights,
  type Permission,
  permissionNotHeld,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import { needsOf } from './check/needs.js'

/** What somebody lacks to have runs of this act for them. */
export const missingFor = (held: readonly string[], definition: WorkflowDefinition): Permission[] =>
  missingRights(held, needsOf(definition))

/** Throws `forbidden` naming what is missing: a workflow does nothing its owner may not do. */
export function requireRights(
  { permissions }: { permissions: readonly string[] },
  definition: WorkflowDefinition,
): void {
  const missing = missingFor(permissions, definition)
  if (missing.length === 0) return
  const message = `What this workflow does takes permissions you do not hold: ${missing.join(', ')}.`
  throw permissionNotHeld(message, missing)
}
