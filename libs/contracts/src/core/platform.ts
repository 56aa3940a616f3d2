import { z } from 'zod'
import { Environment } from './principal.js'
import { backendNames } from './services.js'

const At = z.iso.datetime({ precision: 3 })
const Count = z.int().min(0)
const Service = z.enum(backendNames)

/** Publication and work backlog of a service: counts and names, no content. */
export const ServiceFigures = z.object({
  unpublished: Count.meta({ description: 'Events that wait to be published: 100,000 stands for more.' }),
  oldestUnpublishedAt: At.nullable(),
  consumers: z
    .array(
      z.object({
        name: z.string(),
        pending: Count.nullable().meta({
          description: 'Events it has not been given yet. Null while NATS is away.',
        }),
        inHand: Count.nullable().meta({ description: 'Events it was given, and has not acknowledged.' }),
        deadLetters: Count.meta({
          description: 'Events it has given up: 10,000 of all consumers are counted.',
        }),
      }),
    )
    .meta({ description: '`relay` stands for events that are too large for NATS.' }),
  dueWork: z.array(
    z.object({
      name: z.string(),
      late: Count.meta({ description: 'What is due and not done yet: 10,000 stands for more.' }),
      oldestSeconds: z.number().min(0).meta({ description: 'How long the first of it is due.' }),
    }),
  ),
})
export type ServiceFigures = z.infer<typeof ServiceFigures>

const DeadLetterCause = z.string().meta({
  description:
    'What kind of failure it was: an error code of this API, of Postgres or of Node, or the class of the error; never what it quotes.',
  example: 'service_unavailable',
})

/** Backlog of a service for one workspace: counts and names, no content. */
export const WorkspaceFigures = z.object({
  unpublished: Count.meta({ description: 'Events that wait to be published: 100,000 stands for more.' }),
  deadLetters: z
    .array(z.object({ consumer: z.string(), cause: DeadLetterCause.nullable(), count: Count }))
    .meta({
      description: 'Events and messages that were given up, by consumer and cause: 10,000 are counted.',
    }),
  dueWork: z.array(
    z.object({
      name: z.string(),
      late: Count.meta({ description: 'What is due and not done yet: 10,000 stands for more.' }),
      oldestSeconds: z.number().min(0).meta({ description: 'How long the first of it is due.' }),
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
  waiting: Count.meta({ description: 'Deliveries that have not ended: 10,000 stands for more.' }),
  oldestAt: At.meta({ description: 'When the event of the oldest one happened.' }),
})

export const WaitingWebhooks = z.object({
  items: z.array(WaitingWebhook),
  paused: Count.meta({ description: 'Webhooks that are paused, and send nothing.' }),
})
/** For one workspace, or for all if absent. */
export const WaitingWebhooksQuestion = WorkspaceFiguresQuestion.partial()

export const WorkspaceStatus = z
  .object({
    services: z.array(
      z.object({
        name: Service,
        state: z.string().meta({ description: '`up`, or why it is not ready, or does not answer.' }),
        figures: WorkspaceFigures.nullable().meta({ description: 'Null where it does not answer.' }),
      }),
    ),
    webhooks: z
      .object({
        waiting: z.array(WaitingWebhook).meta({ description: 'The 50 whose oldest delivery waits longest.' }),
        paused: Count,
      })
      .nullable()
      .meta({ description: 'Null where the dispatcher does not answer.' }),
  })
  .meta({ id: 'WorkspaceStatus' })
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>

export const PlatformStatus = z
  .object({
    services: z.array(
      z.object({
        name: Service,
        state: z.string().meta({ description: '`up`, or why it is not ready, or does not answer.' }),
        figures: ServiceFigures.nullable().meta({ description: 'Null where it does not answer.' }),
      }),
    ),
    workspaces: z
      .array(z.object({ id: z.string(), slug: z.string(), name: z.string(), members: Count }))
      .meta({ description: 'The newest 100, with their active members.' }),
    workspaceCount: Count,
    webhooks: z.array(WaitingWebhook).nullable().meta({
      description: 'The 50 whose oldest delivery waits longest. Null where the dispatcher does not answer.',
    }),
  })
  .meta({ id: 'PlatformStatus' })
export type PlatformStatus = z.infer<typeof PlatformStatus>

/** A dead letter of a service without its message: only counts and names known to the platform. */
export const ServiceDeadLetter = z.object({
  number: Count,
  consumer: z.string(),
  messageId: z.string().meta({ description: 'Id of the event, where it has one.' }),
  workspaceId: z.string().nullable(),
  environment: Environment.nullable(),
  eventType: z.string().nullable().meta({ description: 'Null of what is no event of the platform.' }),
  deliveries: Count.meta({ description: 'How often it was tried.' }),
  cause: DeadLetterCause.nullable().meta({ description: 'Null of those from before causes were kept.' }),
  createdAt: At,
  redrivenAt: At.nullable().meta({
    description: 'When it was last handed to its consumer, while that has not tried it yet.',
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
