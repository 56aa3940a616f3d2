export * from './aggregate.js'
export {
  type ArrayParameters,
  arrays,
  type Column,
  insertInto,
  type Numbered,
  parameterCounter,
  text as textColumn,
  unnestRows,
} from './append/columns.js'
export { startIdempotencyPurge } from './append/idempotency.js'
export { storeIdempotentResponse } from './append/idempotent-response.js'

export { attachMonth, detachMonth, LogMonthError, verifyMonth } from './archive/detach.js'
export { monthEvents } from './archive/month-events.js'
export {
  DetachedMonthsError,
  detachedName,
  isDetachedName,
  type LogMonth,
  logMonths,
} from './archive/months.js'
export { type ChangeFeed, readChanges } from './change-feed.js'
export {
  type ConsumeEventsOptions,
  type ConsumerSettings,
  consumeEvents,
  type EventConsumer,
  type EventHandling,
} from './consume/consume.js'
export * from './consume/dead-letters.js'
export type { EventOrigin } from './consume/event-origin.js'
export { internalEventRoutes, LogPage, type LogSource, ownLog, remoteLog } from './consume/log-pages.js'
export { redriveSubject } from './consume/redrive.js'
export type { Transaction } from './consume/transaction.js'
export type { UnreadEvent } from './consume/unread-event.js'
export { VersionRaceError } from './errors.js'
export { appendJournal } from './journal.js'
export { type JournalRow, journalColumns, journalParts } from './journal-parts.js'
export { type Positions, settledPosition } from './log-end.js'
export { createMonths, startMonths } from './log-months.js'
export { type LogStatus, logStatus } from './log-status.js'
export { type AgedTable, deleteAged, executionDays, type MonthRetentionOptions } from './month-retention.js'
export { listPage, maxSearchedCreations } from './past/list-as-of.js'
export { pageReader } from './past/page-reader.js'
export { existsCondition, type Past, type PastOf, pastRows } from './past/past.js'
export { readRowsAt, readStreamPageAt, stateAtSql } from './past/rows-as-of.js'
export { buildTableAt, countCreated } from './past/table-as-of.js'
export { startDaily } from './periodic.js'
export { provisionService } from './provision.js'
export { compareReadModels } from './rebuild/compare.js'
export { type AnyDecider, rebuild } from './rebuild/rebuild.js'
export { type Relay, startRelay } from './relay/relay.js'
export { republishEvents } from './relay/republish-events.js'
export { lockTenant, type Serialized, type SerializerContext, serializer } from './serialized.js'
export { createEventStore, type EventStore } from './store.js'
export * from './tables.js'
export { preconditionFailed, type RequiresUnchanged, type Unit } from './unit.js'
