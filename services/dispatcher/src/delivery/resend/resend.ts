import { type CommandMeta, type Delivery, idTime, newId, notFound } from '@opsplane/contracts'
import { storeIdempotentResponse, type Transaction } from '@opsplane/eventstore'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import { and, eq, sql } from 'drizzle-orm'
import { deliveries } from '../../schema.js'
import { makeDue } from '../due-rows.js'
import { belongsToWebhook, findResendTarget, presentDelivery } from '../queries.js'
import type { DeliveryDays } from '../retention/delivery-days.js'
import type { RecordResend } from './resend-log.js'
import {
  assertResendAllowed,
  buildReplay,
  buildRetry,
  type DeliveryRow,
  type ResendAction,
  type ResendTarget,
} from './resend-rows.js'

export interface ResendContext {
  database: Database
  record: RecordResend
}

export interface Resend {
  days: DeliveryDays
  action: ResendAction
  webhookId: string
  deliveryId: string
  nowMs: number
  meta: CommandMeta
}

/**
 * Makes a delivery due again or creates its replay, and appends the event. The row causes the sending, so nothing is
 * lost once this resolves. Throws `not_found`, `invalid_state_transition` and IdempotencyRaceError.
 */
export async function resendDelivery(
  { database: { db }, record }: ResendContext,
  request: Resend,
): Promise<Delivery> {
  try {
    const replayId = newId('delivery')
    return await request.days.inserting([idTime(replayId)], () =>
      db.transaction(async (tx) => {
        const { row, to, webhookStatus, webhookName } = await lock(tx, request)
        assertResendAllowed(request.action, presentDelivery(row, webhookStatus).status)
        const delivery = presentDelivery(await write(tx, request.action, row, to, replayId), webhookStatus)
        await record(tx, request.meta, { action: request.action, delivery, webhookName })
        await storeIdempotentResponse(tx, request.meta, delivery)
        return delivery
      }),
    )
  } catch (error) {
    throw translatePostgresError(error)
  }
}

/** Serializes requests for the same delivery. */
async function lock(
  tx: Transaction,
  request: Resend,
): Promise<{ row: DeliveryRow; to: ResendTarget; webhookStatus: string | null; webhookName: string }> {
  const { webhookId, deliveryId, nowMs, meta } = request
  const [row] = await tx
    .select()
    .from(deliveries)
    .where(and(belongsToWebhook(meta.tenant, webhookId), eq(deliveries.id, deliveryId)))
    .for('update')
  const webhook = await findResendTarget(tx, meta.tenant, webhookId)
  if (!row || !webhook) throw notFound()
  const { status: webhookStatus, url, name: webhookName } = webhook
  return { row, to: { url, nowMs }, webhookStatus, webhookName }
}

async function write(
  tx: Transaction,
  action: ResendAction,
  row: DeliveryRow,
  to: ResendTarget,
  replayId: string,
) {
  const [written] =
    action === 'retry'
      ? await tx
          .update(deliveries)
          .set({ ...buildRetry(row, to), changePosition: sql`nextval('delivery_changes')` })
          .where(eq(deliveries.id, row.id))
          .returning()
      : await tx
          .insert(deliveries)
          .values(buildReplay(replayId, row, to))
          .returning()
  if (!written) throw new Error(`delivery ${row.id} was not written`)
  await makeDue(tx, [written.id])
  return written
}
