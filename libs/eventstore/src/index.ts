export { IdempotencyRaceError } from '@opsplane/contracts'
export type { ConsumerCounters } from '@opsplane/nats'
export * from './aggregate.js'
export {
  type ConsumeEventsOptions,
  consumeEvents,
  type EventBatch,
  type EventConsumer,
  type HistoryOptions,
  type Transaction,
} from './consume.js'
export * from './dead-letters.js'
export { VersionRaceError } from './errors.js'
export type { EventOrigin } from './event-origin.js'
export { startIdempotencyPurge } from './idempotency.js'
export { appendJournal, type JournalEntry } from './journal.js'
export { keepAnswer } from './keep-answer.js'
export { type ListOptions, listPage, mostCreations, mostSearchedCreations } from './list-as-of.js'
export { startLogMonths } from './log-months.js'
export { internalEventRoutes, LogPage, type LogSource, ownLog, remoteLog } from './log-pages.js'
export { type LogStatus, logStatus } from './log-status.js'
export type { Numbers } from './numbers.js'
export { isThere, type Past, type PastOf, pastRows } from './past.js'
export { provisionService, type ServiceProvisionOptions } from './provision.js'
export { type AnyDecider, type RebuildOptions, rebuild } from './rebuild.js'
export { redriveSubject } from './redrive.js'
export { type Relay, type RelayCounters, type RelayOptions, startRelay } from './relay.js'
export { type ReseedOptions, reseed } from './reseed.js'
export { rowsAsOf, stateAsOf, streamPageAsOf } from './rows-as-of.js'
export * from './store.js'
export { countCreated, type StatementPart, tableAsOf } from './table-as-of.js'
export * from './tables.js'
export { type TakeTurn, type TurnContext, takeTurns, turnOfTenant } from './turns.js'
export { type HandleOptions, preconditionFailed, type Relying, type Unit, type UnitOptions } from './unit.js'
