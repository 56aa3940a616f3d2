import { type DeliveryStatus, invalidTransition } from '@opsplane/contracts'
import type { deliveries } from '../../schema.js'

export type DeliveryRow = typeof deliveries.$inferSelect
export type NewDeliveryRow = typeof deliveries.$inferInsert

export type ResendAction = 'retry' | 'replay'

/** What a person may ask of a delivery. One that is still on its way needs no help. */
export const resendActions: Readonly<Record<DeliveryStatus, readonly ResendAction[]>> = {
  pending: [],
  retrying: [],
  held: [],
  succeeded: ['replay'],
  failed: ['retry', 'replay'],
}

/** Throws `invalid_state_transition`, which names what is allowed. */
export function assertResendAllowed(action: ResendAction, status: DeliveryStatus): void {
  const allowed = resendActions[status]
  if (!allowed.includes(action)) throw invalidTransition(`${action} the delivery`, status, allowed)
}

/** The webhook as it is now. */
export interface ResendTarget {
  url: string
  nowMs: number
}

/** A cycle of fresh attempts; the attempts made so far stay counted and logged. */
export function buildRetry(
  row: DeliveryRow,
  to: ResendTarget,
): Pick<DeliveryRow, 'cycleBase' | 'url' | keyof typeof waiting> {
  return { cycleBase: row.attempts, url: to.url, ...waiting }
}

/** The same event to the same webhook once more, as a delivery of its own. */
export function buildReplay(id: string, row: DeliveryRow, to: ResendTarget): NewDeliveryRow {
  const { workspaceId, environment, webhookId, eventId, eventType, bytes, orderingKey, orderingSequence } =
    row
  return {
    ...{ workspaceId, environment, webhookId, eventId, eventType, bytes, orderingKey, orderingSequence },
    id,
    url: to.url,
    replayOf: row.id,
    createdAt: new Date(to.nowMs).toISOString(),
    ...waiting,
  }
}

/** Not due yet: that is for the database's clock to say, and for its ordering queue to release it. */
const waiting = { status: 'pending', dueAt: null, leaseOwner: null } as const
