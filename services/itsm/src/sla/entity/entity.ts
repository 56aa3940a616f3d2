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

/** The facts that clocks need about an entity of any kind after one of its events. */
export interface SlaFacts {
  id: string
  number: string
  createdAt: Instant
  status: string
  /** `null` if this kind of entity has none. The same applies to the next two fields. */
  severity: Severity | null
  priority: Priority | null
  holdReason: HoldReason | null
  /** Whether the work that a resolution clock waits for is completed or will never be. */
  ended: 'completed' | 'canceled' | null
  /** How this event or an earlier one responded to the requester, for the metric `response`; `null` if none did. */
  response: string | null
  /** Effect of this event on recurring spans. Spans not listed are unchanged. */
  spans?: Partial<Record<RecurringSlaMetric, SpanSignal>>
  /** The whole state, which conditions are evaluated on. */
  state: object
}

/** A kind of entity that clocks measure. */
export interface SlaEntity {
  entityType: SlaEntityType
  /** Its read-model table, which is also the stream type in the log. */
  table: string
  /** Prefix of its number, such as `INC-`. The table stores the digits as `number_value`. */
  numberPrefix: string
  /** Durable name of the consumer of its events. */
  durable: string
  /** Types of events that can change a clock. */
  eventTypes: readonly string[]
  /** The metrics that can be measured, each with the statuses in which its clocks count. */
  metrics: Partial<Record<SlaMetric, readonly string[]>>
  /** Types of events that affect recurring spans; all types if omitted. */
  spanEvents?: readonly string[]
  goalsBy: readonly [SlaGoalsBy, ...SlaGoalsBy[]]
  /** Hold reasons that pause the clock by default; `null` if this kind of entity has no hold reasons. */
  pauseReasons: readonly HoldReason[] | null
  /** The statuses it can have before it has ended, the initial one first. A policy may pause in these. */
  openStatuses: readonly string[]
  /**
   * For entities that not every reader of clocks may see: their rows,
   * and the condition for those a caller may see (`undefined`: all).
   */
  restricted?: {
    rows: KeysetTable
    visibleTo(meta: RequestMeta): SQL | undefined
  }
  /** Schema of its state, whose fields conditions refer to. */
  record: z.ZodObject
  /** Derives the facts from the stored state and the other parts of its event. */
  facts(stored: unknown, reported?: Reported): SlaFacts
}

/** The parts of an event other than the state: its type and its comment, if any. */
export interface Reported {
  type?: string
  comment?: unknown
}

type Described<State> = Omit<SlaEntity, 'facts' | 'record'> & {
  state: z.ZodObject & z.ZodType<State>
  facts(state: State, reported: Reported): Omit<SlaFacts, 'state'>
}

/** Defines a kind of entity by its state. */
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
 * Effect of an event on a recurring span: it is waiting, and begins here unless it has begun; it is held; it is done;
 * or it is off, because nothing is awaited any more.
 */
export interface SpanSignal {
  is: 'waiting' | 'held' | 'done' | 'off'
  reason: string | null
}
