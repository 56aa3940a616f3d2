import { z } from 'zod'
import type { Permission } from '../core/permissions.js'

/** Resources that change state without an event of the log. */
export const ChangedType = z.enum(['delivery', 'run', 'execution'])
export type ChangedType = z.infer<typeof ChangedType>

/** What reading the resources of each type takes. */
export const changedPermissions: Readonly<Record<ChangedType, Permission>> = {
  delivery: 'webhooks:read',
  run: 'runs:read',
  execution: 'executions:read',
}

/** Beyond so many a signal names no more: a page that shows others reads its list again. */
export const maxChangedIds = 50

/**
 * What core NATS says of a tenant's resources that have changed state, on `changedSubject`: at most one a second for each
 * type and replica. Nothing depends on it: one that is lost is made up for by the next read.
 */
export const ChangedSignal = z.object({
  type: ChangedType,
  ids: z.array(z.string()).max(maxChangedIds),
  /** Others have changed, too. */
  isMore: z.literal(true).optional(),
})
export type ChangedSignal = z.infer<typeof ChangedSignal>
