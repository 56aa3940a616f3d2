import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { MomentOrDay } from '../core/moment.js'
import { TimeZoneName } from '../core/time-zone.js'

const replayJobStatuses = ['running', 'completed', 'canceled'] as const
const ReplayJobStatus = z.enum(replayJobStatuses)

const Finished = z.enum(['failed', 'succeeded'])

/** Body of `POST /webhooks/:id/deliveries/replay`: which finished deliveries to replay. */
export const ReplayDeliveries = z
  .strictObject({
    status: z
      .union([Finished.transform((status) => [status]), z.array(Finished).min(1).max(2)])
      .default(['failed'])
      .meta({ description: 'One or several of failed and succeeded. Default failed.' }),
    eventType: z.string().min(1).max(200).optional(),
    from: MomentOrDay.optional().meta({ description: 'Created at this time or later.' }),
    to: MomentOrDay.optional().meta({
      description: 'Created before this time, which is later than `from`. Default now.',
    }),
    timeZone: TimeZoneName.default('UTC').meta({
      description: 'By whose clock a date begins that is given for an instant.',
    }),
    dryRun: z.boolean().default(false).meta({ description: 'Only count.' }),
  })
  .meta({
    id: 'ReplayDeliveries',
    example: { status: 'failed', from: '2026-01-01T00:00:00.000Z', dryRun: true },
  })
export type ReplayDeliveries = z.infer<typeof ReplayDeliveries>

/** A job that replays many deliveries of one webhook. */
export const ReplayJob = z
  .object({
    id: idSchema('replay'),
    webhookId: z.string(),
    status: ReplayJobStatus,
    filter: z.object({
      status: z.array(Finished),
      eventType: z.string().nullable(),
      from: z.string().nullable(),
      to: z.string(),
      failures: z.string().optional().meta({
        description:
          'The group of failures that is retried; absent where deliveries are chosen by the others.',
      }),
    }),
    total: z.int().meta({ description: 'Deliveries that matched when the job was made.' }),
    replayed: z.int().meta({ description: 'Replays made so far.' }),
    createdAt: z.string(),
    finishedAt: z.string().nullable(),
  })
  .meta({ id: 'ReplayJob' })
export type ReplayJob = z.infer<typeof ReplayJob>

export const ReplayStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Deliveries that match.' }),
    job: ReplayJob.nullable().meta({ description: 'Null for a dry run.' }),
  })
  .meta({ id: 'ReplayStarted' })
export type ReplayStarted = z.infer<typeof ReplayStarted>

/** One delivery resent on request, as a retry or a replay. */
export const WebhookResend = z.object({
  id: idSchema('resend'),
  webhookId: z.string(),
  deliveryId: z.string().meta({ description: 'The delivery that is sent: of a replay, the new one.' }),
  eventId: z.string(),
  eventType: z.string(),
  replayOf: z.string().nullable().meta({ description: 'The delivery this is a replay of.' }),
  createdAt: z.string(),
})
export type WebhookResend = z.infer<typeof WebhookResend>
