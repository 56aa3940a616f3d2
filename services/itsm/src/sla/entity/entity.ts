import type {
  HoldReason,
  Instant,
  Priority,
  RecurringSlaMetric,
  Severity,
  SlaEntityType,
  SlaGoalsBy,
  SlaMetric,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { KeysetTable } from '@opsplane/postgres'
import type { SQL } from 'drizzle-orm'
import type { z } from 'zod'

/** What clocks see of an entity after one of its events, whatever kind it is. */
export interface SlaFacts {
  id: string
  number: string
  createdAt: Instant
  status: string
  /** Null where the kind has none, as for the next two. */
  severity: Severity | null
  priority: Priority | null
  holdReason: HoldReason | null
  /** Whether what a resolution clock waits for is done, or never will be. */
  ended: 'completed' | 'canceled' | null
  /** What this event or one before it has answered the one who asked with, for the metric `response`. */
  response: string | null
  /** What this event means for recurring spans; the others go on as they are. */
  spans?: Partial<Record<RecurringSlaMetric, SpanSignal>>
  /** The state itself: conditions look at it. */
  state: object
}

/** A kind of entity that clocks run over. */
export interface SlaEntity {
  entityType: SlaEntityType
  /** Its read-model table, which is the type of its streams in the log too. */
  table: string
  /** Before the digits of its number, which its table has as `number_value`. */
  numberPrefix: string
  /** The consumer of its events. */
  durable: string
  /** The events that can change a clock. */
  eventTypes: readonly string[]
  /** What can be measured of it, with the statuses in which a clock of it counts. */
  metrics: Partial<Record<SlaMetric, readonly string[]>>
  /** The events that affect recurring spans; all unless given. */
  spanEvents?: readonly string[]
  goalsBy: readonly [SlaGoalsBy, ...SlaGoalsBy[]]
  /** Hold reasons that stop the clock unless the policy says otherwise; null where there are no hold reasons. */
  pauseReasons: readonly HoldReason[] | null
  /** The statuses it can be in before it has ended, the first one first: those a policy may pause in. */
  openStatuses: readonly string[]
  /** For entities that not every reader of clocks may see: their rows, and those a caller may see (undefined: all). */
  restricted?: {
    rows: KeysetTable
    visibleTo(meta: RequestMeta): SQL | undefined
  }
  /** Its fields, which conditions are about. */
  record: z.ZodObject
  /** From the state as it was stored, and the rest of its event. */
  facts(stored: unknown, reported?: Reported): SlaFacts
}

/** The parts of an event besides the state: its type, and its comment, if any. */
export interface Reported {
  type?: string
  comment?: unknown
}

type Described<State> = Omit<SlaEntity, 'facts' | 'record'> & {
  state: z.ZodObject & z.ZodType<State>
  facts(state: State, reported: Reported): Omit<SlaFacts, 'state'>
}

/** Describes a kind of entity by its state. */
export function slaEntity<State extends object>({
  state: schema,
  facts,
  ...kind
}: Described<State>): SlaEntity {
  return {
    ...kind,
    record: schema,
    facts(stored, reported = {}) {
      const state = schema.parse(stored)
      return { ...facts(state, reported), state }
    },
  }
}

/**
 * What an event means for a recurring span: it waits, beginning here unless it has begun; it is held; it is done; or it
 * is off, as nothing is awaited any longer.
 */
export interface SpanSignal {
  is: 'waiting' | 'held' | 'done' | 'off'
  reason: string | null
}
