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
  /** What this event tells of spans that come again; of which it tells nothing, goes on as it is. */
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
  /** Of its events, those that tell of spans, unless all do. */
  spanEvents?: readonly string[]
  goalsBy: readonly [SlaGoalsBy, ...SlaGoalsBy[]]
  /** Hold reasons that stop the clock unless the policy says otherwise; null where there are no hold reasons. */
  pauseReasons: readonly HoldReason[] | null
  /** The statuses it can be in before it has ended, the first one first: those a policy may pause in. */
  openStatuses: readonly string[]
  /** Where not everybody who reads clocks sees every entity: its rows, and which of them a caller sees (undefined: all). */
  restricted?: {
    rows: KeysetTable
    visibleTo(meta: RequestMeta): SQL | undefined
  }
  /** Its fields, which conditions are about. */
  record: z.ZodObject
  /** Of the state as it was stored, and of what its event has reported beside it. */
  facts(stored: unknown, reported?: Reported): SlaFacts
}

/** What an event tells beside the state: its type, and the comment it has carried, if any. */
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
 * What an event tells of a span that comes again: one is under way, beginning here unless it is already; the one under
 * way stands still; what was waited for is there; or it is waited for no longer.
 */
export interface SpanSignal {
  is: 'waiting' | 'held' | 'done' | 'off'
  reason: string | null
}
