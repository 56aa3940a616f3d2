import {
  type DeadLettersQuestion,
  eventCatalog,
  type NatsNames,
  type ServiceDeadLetter,
  type ServiceFigures,
  type WorkspaceFigures,
} from '@opsplane/contracts'
import { type DeadLetterSummary, deadLettersIn, redriveSubject } from '@opsplane/eventstore'
import type { NatsLink } from '@opsplane/nats'
import type { Database, DueWorkGroup } from '@opsplane/postgres'
import { startDeadline } from '@opsplane/runtime'
import {
  type Consumers,
  countDeadLetters,
  countDue,
  countUnpublished,
  readOutbox,
  readPositionsInTime,
} from './progress.js'

interface OperationsOptions {
  database: Database
  link: NatsLink
  names: NatsNames
  dueWork: DueWorkGroup
  consumers: Consumers
}

export type Operations = ReturnType<typeof createOperations>

/**
 * Shorter than the timeout of those who request the figures: the other figures are
 * returned even if NATS does not answer.
 */
const natsTimeoutMs = 1_000

/** State of a service for the operators of the installation: counts, and no tenant's content. */
export function createOperations({ database, link, names, dueWork, consumers }: OperationsOptions) {
  const letters = deadLettersIn(database.sql)
  const shown = (letter: DeadLetterSummary) => withoutContent(names, letter)

  return {
    async figures(): Promise<ServiceFigures> {
      const deadline = startDeadline(natsTimeoutMs)
      const [outbox, deadLetters, places, due] = await Promise.all([
        readOutbox(database),
        countDeadLetters(database, consumers),
        readPositionsInTime(link, consumers, deadline.signal),
        countDue(database, dueWork),
      ]).finally(() => deadline.clear())
      const placeOf = new Map(places.map((place) => [place.durable, place]))
      return {
        unpublished: outbox.events,
        oldestUnpublishedAt: outbox.oldestAt,
        consumers: [...deadLetters].map(([name, count]) => {
          const place = placeOf.get(name)
          return {
            name,
            pending: place?.pending ?? null,
            inHand: place?.ackPending ?? null,
            deadLetters: count,
          }
        }),
        dueWork: due,
      }
    },

    /** Figures of one workspace, for its owners. */
    async workspaceFigures(workspaceId: string): Promise<WorkspaceFigures> {
      const [unpublished, deadLetters, due] = await Promise.all([
        countUnpublished(database, workspaceId),
        letters.countOf(workspaceId, names.subjectsOf(workspaceId)),
        countDue(database, dueWork, workspaceId),
      ])
      return { unpublished, deadLetters, dueWork: due }
    },

    /** Oldest first. */
    async deadLetters(question: DeadLettersQuestion): Promise<ServiceDeadLetter[]> {
      return (await letters.list(question)).map(shown)
    },

    /**
     * The consumer redrives it immediately. A dead letter of the relay has no consumer and
     * stays unchanged. `null` if there is none.
     */
    async redrive(number: number): Promise<ServiceDeadLetter | null> {
      const [marked] = await letters.markForRedrive({ ids: [number] })
      if (marked && link.connected()) (await link.ready()).publish(redriveSubject(names, marked.consumer))
      const [found] = marked ? [marked] : await letters.list({ ids: [number], limit: 1 })
      return found ? shown(found) : null
    },

    /** Drops it: its effects are lost. `false` if there is none. */
    drop: async (number: number): Promise<boolean> => (await letters.drop({ ids: [number] })) > 0,
  }
}

/**
 * Omits the message and the error text, which may quote it; keeps only the parts of
 * the subject the platform itself chose.
 */
function withoutContent(names: NatsNames, letter: DeadLetterSummary): ServiceDeadLetter {
  const { id: number, consumer, messageId, subject, deliveries, cause, createdAt, redrivenAt } = letter
  const event = names.subjectEvent(subject)
  return {
    ...{ number, consumer, messageId, deliveries, cause, createdAt, redrivenAt },
    workspaceId: event?.workspaceId ?? null,
    environment: event?.environment ?? null,
    eventType: event !== undefined && event.type in eventCatalog ? event.type : null,
  }
}
