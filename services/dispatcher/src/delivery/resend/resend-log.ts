import { type CommandMeta, type Decider, type Delivery, newId, type WebhookResend } from '@opsplane/contracts'
import type { EventStore, Transaction } from '@opsplane/eventstore'
import { toStatementRunner } from '@opsplane/postgres'
import type { ResendAction } from './resend-rows.js'

export type ResendState = WebhookResend & { webhookName: string }
export type ResendCommand = { kind: ResendAction; resend: ResendState }

/**
 * The resend of a delivery by a user. It is an unchanging fact, so each resend is a
 * separate aggregate. See ADR 018.
 */
export const resend: Decider<ResendState, ResendCommand, WebhookResend> = {
  resourceType: 'webhook',
  table: 'webhook_resends',
  decide({ kind, resend: after }) {
    const { deliveryId, eventId, replayOf } = after
    if (kind === 'retry')
      return [{ type: 'webhook.delivery_retried', after, extras: { deliveryId, eventId } }]
    return [{ type: 'webhook.delivery_replayed', after, extras: { deliveryId, eventId, replayOf } }]
  },
  expose: ({ webhookName: _, ...shown }) => shown,
  describe: ({ webhookId, webhookName }) => ({ id: webhookId, displayName: webhookName }),
}

export interface Resent {
  action: ResendAction
  /** The delivery as it will be sent. */
  delivery: Delivery
  webhookName: string
}

/** Appends the event of a resend, in the transaction that writes its rows. */
export type RecordResend = (tx: Transaction, meta: CommandMeta, resent: Resent) => Promise<void>

export function resendLog(store: EventStore): RecordResend {
  const resends = store.aggregate(resend)
  return async (tx, meta, { action, delivery, webhookName }) => {
    const { id: deliveryId, webhookId, eventId, eventType, replayOf } = delivery
    const id = newId('resend')
    const state = {
      id,
      webhookId,
      deliveryId,
      eventId,
      eventType,
      replayOf,
      createdAt: meta.now,
      webhookName,
    }
    await store.within(toStatementRunner(tx), meta, (unit) =>
      unit.create(resends, id, { kind: action, resend: state }),
    )
  }
}
