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
      .meta({ description: '`failed`, `succeeded` or both. Default: `failed`.' }),
    eventType: z.string().min(1).max(200).optional(),
    from: MomentOrDay.optional().meta({ description: 'Only deliveries created at or after this time.' }),
    to: MomentOrDay.optional().meta({
      description: 'Only deliveries created before this time. Must be later than `from`. Default: now.',
    }),
    timeZone: TimeZoneName.default('UTC').meta({
      description: 'Time zone that determines when a given date begins.',
    }),
    dryRun: z.boolean().default(false).meta({ description: 'Only counts the matching deliveries.' }),
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
          'Id of the group of failures that is retried. Absent if the deliveries are selected by the other fields.',
      }),
    }),
    total: z.int().meta({ description: 'Number of deliveries that matched when the job was created.' }),
    replayed: z.int().meta({ description: 'Number of replays created so far.' }),
    createdAt: z.string(),
    finishedAt: z.string().nullable(),
  })
  .meta({ id: 'ReplayJob' })
export type ReplayJob = z.infer<typeof ReplayJob>

export const ReplayStarted = z
  .object({
    dryRun: z.boolean(),
    count: z.int().meta({ description: 'Number of matching deliveries.' }),
    job: ReplayJob.nullable().meta({ description: '`null` for a dry run.' }),
  })
  .meta({ id: 'ReplayStarted' })
export type ReplayStarted = z.infer<typeof ReplayStarted>

/** One delivery resent on request, as a retry or a replay. */
export const WebhookResend = z.object({
  id: idSchema('resend'),
  webhookId: z.string(),
  deliveryId: z
    .string()
    .meta({ description: 'Id of the delivery that is sent. For a replay, the new delivery.' }),
  eventId: z.string(),
  eventType: z.string(),
  replayOf: z.string().nullable().meta({ description: 'Id of the delivery that this one replays.' }),
  createdAt: z.string(),
})
export type WebhookResend = z.infer<typeof WebhookResend>
