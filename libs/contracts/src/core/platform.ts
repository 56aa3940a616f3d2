import { z } from 'zod'
import { Environment } from './principal.js'
import { backendNames } from './services.js'

const At = z.iso.datetime({ precision: 3 })
const Count = z.int().min(0)
const Service = z.enum(backendNames)

/** Publication and work backlog of a service: counts and names, no content. */
export const ServiceFigures = z.object({
  unpublished: Count.meta({
    description: 'Number of events that wait to be published. 100,000 stands for 100,000 or more.',
  }),
  oldestUnpublishedAt: At.nullable(),
  consumers: z
    .array(
      z.object({
        name: z.string(),
        pending: Count.nullable().meta({
          description:
            'Number of events that have not been delivered to the consumer yet. `null` while NATS is unavailable.',
        }),
        inHand: Count.nullable().meta({
          description: 'Number of events that were delivered to the consumer and are not acknowledged yet.',
        }),
        deadLetters: Count.meta({
          description:
            'Number of events the consumer could not handle after all attempts. At most 10,000 across all consumers are ' +
            'counted.',
        }),
      }),
    )
    .meta({ description: 'Backlog by consumer. `relay` stands for events that are too large for NATS.' }),
  dueWork: z.array(
    z.object({
      name: z.string(),
      late: Count.meta({
        description: 'Number of items of due work that are not done yet. 10,000 stands for 10,000 or more.',
      }),
      oldestSeconds: z
        .number()
        .min(0)
        .meta({ description: 'Seconds since the oldest of these items became due.' }),
    }),
  ),
})
export type ServiceFigures = z.infer<typeof ServiceFigures>

const DeadLetterCause = z.string().meta({
  description:
    'Kind of failure: an error code of this API, of Postgres or of Node, or the class of the error. Never ' +
    'contains quoted data.',
  example: 'service_unavailable',
})

/** Backlog of a service for one workspace: counts and names, no content. */
export const WorkspaceFigures = z.object({
  unpublished: Count.meta({
    description: 'Number of events that wait to be published. 100,000 stands for 100,000 or more.',
  }),
  deadLetters: z
    .array(z.object({ consumer: z.string(), cause: DeadLetterCause.nullable(), count: Count }))
    .meta({
      description: 'Dead letters by consumer and cause. At most 10,000 are counted.',
    }),
  dueWork: z.array(
    z.object({
      name: z.string(),
      late: Count.meta({
        description: 'Number of items of due work that are not done yet. 10,000 stands for 10,000 or more.',
      }),
      oldestSeconds: z
        .number()
        .min(0)
        .meta({ description: 'Seconds since the oldest of these items became due.' }),
    }),
  ),
})
export type WorkspaceFigures = z.infer<typeof WorkspaceFigures>

/** The workspace whose figures are requested. */
export const WorkspaceFiguresQuestion = z.object({ workspaceId: z.string().min(1).max(100) })

/** A webhook with waiting deliveries. */
const WaitingWebhook = z.object({
  id: z.string(),
  name: z.string(),
  workspaceId: z.string(),
  environment: Environment,
  waiting: Count.meta({ description: 'Number of unfinished deliveries. 10,000 stands for 10,000 or more.' }),
  oldestAt: At.meta({ description: 'Time of the event of the oldest unfinished delivery.' }),
})

export const WaitingWebhooks = z.object({
  items: z.array(WaitingWebhook),
  paused: Count.meta({ description: 'Number of paused webhooks. They send nothing.' }),
})
/** For one workspace, or for all if absent. */
export const WaitingWebhooksQuestion = WorkspaceFiguresQuestion.partial()

export const WorkspaceStatus = z
  .object({
    services: z.array(
      z.object({
        name: Service,
        state: z
          .string()
          .meta({ description: '`up`, or the reason why the service is not ready or does not respond.' }),
        figures: WorkspaceFigures.nullable().meta({ description: '`null` if the service does not respond.' }),
      }),
    ),
    webhooks: z
      .object({
        waiting: z
          .array(WaitingWebhook)
          .meta({ description: 'The 50 webhooks whose oldest delivery has waited longest.' }),
        paused: Count,
      })
      .nullable()
      .meta({ description: '`null` if the dispatcher does not respond.' }),
  })
  .meta({ id: 'WorkspaceStatus' })
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>

export const PlatformStatus = z
  .object({
    services: z.array(
      z.object({
        name: Service,
        state: z
          .string()
          .meta({ description: '`up`, or the reason why the service is not ready or does not respond.' }),
        figures: ServiceFigures.nullable().meta({ description: '`null` if the service does not respond.' }),
      }),
    ),
    workspaces: z
      .array(z.object({ id: z.string(), slug: z.string(), name: z.string(), members: Count }))
      .meta({ description: 'The 100 newest workspaces, with the number of their active members.' }),
    workspaceCount: Count,
    webhooks: z.array(WaitingWebhook).nullable().meta({
      description:
        'The 50 webhooks whose oldest delivery has waited longest. `null` if the dispatcher does not respond.',
    }),
  })
  .meta({ id: 'PlatformStatus' })
export type PlatformStatus = z.infer<typeof PlatformStatus>

/** A dead letter of a service without its message: only counts and names known to the platform. */
export const ServiceDeadLetter = z.object({
  number: Count,
  consumer: z.string(),
  messageId: z.string().meta({ description: 'Id of the event, if it has one.' }),
  workspaceId: z.string().nullable(),
  environment: Environment.nullable(),
  eventType: z
    .string()
    .nullable()
    .meta({ description: 'Type of the event. `null` if the message is not an event of the platform.' }),
  deliveries: Count.meta({ description: 'Number of delivery attempts.' }),
  cause: DeadLetterCause.nullable().meta({
    description: '`null` for dead letters from before causes were recorded.',
  }),
  createdAt: At,
  redrivenAt: At.nullable().meta({
    description:
      'Time at which the dead letter was last redriven. `null` again once the consumer has tried it.',
  }),
})
export type ServiceDeadLetter = z.infer<typeof ServiceDeadLetter>

export const ServiceDeadLetters = z.object({ items: z.array(ServiceDeadLetter) })

/** Dead letters of one service with a number above `after`. */
export const DeadLettersQuestion = z.object({
  after: z.coerce.number().int().min(0),
  limit: z.coerce.number().int().min(1).max(1_000),
  consumer: z.string().max(200).optional(),
})
export type DeadLettersQuestion = z.infer<typeof DeadLettersQuestion>

export const DeadLetterChoice = z.strictObject({ number: z.int().min(1) })
export const RedrivenDeadLetter = z.object({ letter: ServiceDeadLetter.nullable() })
export const DroppedDeadLetter = z.object({ dropped: z.boolean() })

export const DeadLetter = ServiceDeadLetter.omit({ number: true })
  .extend({ id: z.string().meta({ example: 'itsm:12' }), service: Service })
  .meta({ id: 'DeadLetter' })
export type DeadLetter = z.infer<typeof DeadLetter>

export const DeadLetterFilters = z.object({
  service: Service.optional(),
  consumer: z.string().max(200).optional().meta({ description: 'Name of a consumer.' }),
})
export type DeadLetterFilters = z.infer<typeof DeadLetterFilters>
