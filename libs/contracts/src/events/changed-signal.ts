import { z } from 'zod'
import type { Permission } from '../core/permissions.js'

/** Resources whose state changes without an event in the log. */
export const ChangedType = z.enum(['delivery', 'run', 'execution'])
export type ChangedType = z.infer<typeof ChangedType>

/** Permission required to read the resources of each type. */
export const changedPermissions: Readonly<Record<ChangedType, Permission>> = {
  delivery: 'webhooks:read',
  run: 'runs:read',
  execution: 'executions:read',
}

/** Maximum ids in one signal. If more changed, a page that shows other resources reloads its list. */
export const maxChangedIds = 50

/**
 * Core NATS message on `changedSubject` about a tenant's resources whose state changed: at most one per second for each
 * type and replica. Nothing depends on it: a lost signal is compensated by the next read.
 */
export const ChangedSignal = z.object({
  type: ChangedType,
  ids: z.array(z.string()).max(maxChangedIds),
  /** Further resources changed that are not in `ids`. */
  isMore: z.literal(true).optional(),
})
export type ChangedSignal = z.infer<typeof ChangedSignal>
