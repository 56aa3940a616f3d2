import { type DeliveryStatus, invalidTransition } from '@opsplane/contracts'
import type { deliveries } from '../schema.js'

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
export function assertMay(action: ResendAction, status: DeliveryStatus): void {
  const allowed = resendActions[status]
  if (!allowed.includes(action)) throw invalidTransition(`${action} the delivery`, status, allowed)
}

/** The webhook as it is now; a paused one holds what is sent again. */
export interface ResendTo {
  url: string
  paused: boolean
  nowMs: number
}

/** A cycle of fresh attempts; the attempts made so far stay counted and logged. */
export function retried(row: DeliveryRow, to: ResendTo): Pick<DeliveryRow, 'cycleBase' | 'url' | Waiting> {
  return { cycleBase: row.attempts, url: to.url, ...waiting(row, to) }
}

/** The same event to the same webhook once more, as a delivery of its own. */
export function replayed(id: string, row: DeliveryRow, to: ResendTo): NewDeliveryRow {
  const { workspaceId, environment, webhookId, eventId, eventType, orderingKey, orderingPlace } = row
  return {
    ...{ workspaceId, environment, webhookId, eventId, eventType, orderingKey, orderingPlace },
    id,
    url: to.url,
    replayOf: row.id,
    createdAt: new Date(to.nowMs).toISOString(),
    ...waiting(row, to),
  }
}

type Waiting = 'status' | 'dueAt' | 'leaseOwner'

/** One that is sent in order waits for its turn, which is the next: several of one key may be sent again at once. */
function waiting({ orderingKey }: DeliveryRow, { paused, nowMs }: ResendTo): Pick<DeliveryRow, Waiting> {
  const due = !paused && orderingKey === null
  return { status: paused ? 'held' : 'pending', dueAt: due ? nowMs : null, leaseOwner: null }
}
