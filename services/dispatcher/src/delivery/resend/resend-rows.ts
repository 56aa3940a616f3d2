import { type DeliveryStatus, invalidTransition } from '@opsplane/contracts'
import type { deliveries } from '../../schema.js'

export type DeliveryRow = typeof deliveries.$inferSelect
export type NewDeliveryRow = typeof deliveries.$inferInsert

export type ResendAction = 'retry' | 'replay'

/** Actions a person may request, by status of the delivery. Deliveries in progress have none. */
export const resendActions: Readonly<Record<DeliveryStatus, readonly ResendAction[]>> = {
  pending: [],
  retrying: [],
  held: [],
  succeeded: ['replay'],
  failed: ['retry', 'replay'],
}

/** Throws `invalid_state_transition` with the allowed actions. */
export function assertResendAllowed(action: ResendAction, status: DeliveryStatus): void {
  const allowed = resendActions[status]
  if (!allowed.includes(action)) throw invalidTransition(`${action} the delivery`, status, allowed)
}

/** The current state of the webhook. */
export interface ResendTarget {
  url: string
  nowMs: number
}

/** Starts a new cycle of attempts; earlier attempts remain counted and logged. */
export function buildRetry(
  row: DeliveryRow,
  to: ResendTarget,
): Pick<DeliveryRow, 'cycleBase' | 'url' | keyof typeof waiting> {
  return { cycleBase: row.attempts, url: to.url, ...waiting }
}

/** A new delivery of the same event to the same webhook. */
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

/** Not due yet: the due time is set by the database's clock, or on release from its ordering queue. */
const waiting = { status: 'pending', dueAt: null, leaseOwner: null } as const
