import { z } from 'zod'
import { Environment } from '../core/principal.js'
import { AttemptErrorKind } from '../dispatcher/delivery.js'
import { ExecutionStatus } from '../sdk/sdk-executions.js'

/** Requests the changes of resources a service keeps no events of. `after: 0` starts with all existing resources. */
export const ChangeQuery = z.object({ after: z.coerce.number().int().min(0) })
export type ChangeQuery = z.output<typeof ChangeQuery>

/** A page of changes. Positions increase with each change, and each change contains the complete state. */
export interface ChangePage<Change> {
  changes: { position: number; change: Change }[]
  /** Position after which the next page begins; `null` on the last page. */
  next: number | null
}

const changePageSchema = <Change extends z.ZodType>(change: Change) =>
  z.object({
    changes: z.array(z.object({ position: z.int().min(1), change })),
    next: z.int().min(1).nullable(),
  })

const Instant = z.iso.datetime()

const inTenant = { workspaceId: z.string(), environment: Environment }

/** State of a delivery after its last attempt or resend. */
export const DeliveryChange = z.object({
  id: z.string(),
  ...inTenant,
  webhookId: z.string(),
  eventType: z.string(),
  /** Host the delivery is sent to; the rest of the URL is omitted. */
  host: z.string().nullable(),
  status: z.enum(['pending', 'retrying', 'succeeded', 'failed']),
  attempts: z.int(),
  isReplay: z.boolean(),
  createdAt: Instant,
  lastAttemptAt: Instant.nullable(),
  responseStatus: z.int().nullable(),
  durationMs: z.int().nullable(),
  errorKind: AttemptErrorKind.nullable(),
})
export type DeliveryChange = z.infer<typeof DeliveryChange>
export const DeliveryChanges = changePageSchema(DeliveryChange)
export const deliveryChangesPath = '/internal/deliveries/changes'

/** An execution that has ended. */
export const ExecutionChange = z.object({
  id: z.string(),
  ...inTenant,
  artifactSlug: z.string(),
  artifactVersion: z.int(),
  artifactType: z.string(),
  triggerType: z.string(),
  status: ExecutionStatus,
  isReplay: z.boolean(),
  errorCode: z.string().nullable(),
  durationMs: z.int().nullable(),
  memoryPeakMb: z.int().nullable(),
  startedAt: Instant,
  completedAt: Instant,
})
export type ExecutionChange = z.infer<typeof ExecutionChange>
export const ExecutionChanges = changePageSchema(ExecutionChange)
export const executionChangesPath = '/internal/executions/changes'
