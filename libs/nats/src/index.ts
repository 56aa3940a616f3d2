export * from './ack-inbox.js'
export * from './backup/stream-backup.js'
export { batchHandling, type ConsumerCounters, type Received } from './batch-handling.js'
export * from './changed-signals.js'
export type { ConsumerPlace, ConsumerProgress } from './consumer-progress.js'
export { type DurableConsumer, durableConsumer } from './durable-consumer.js'
export { ensureConsumer } from './ensure-consumer.js'
export {
  ForeignStreamError,
  NatsLinkClosedError,
  NoStreamError,
  SignatureError,
  UnreadableMessageError,
  UnsupportedServerError,
} from './errors.js'
export { createEventSignatures, type EventSignatures, type SignedMessage } from './event-signatures.js'
export * from './event-subject.js'
export * from './hints.js'
export * from './link.js'
export { measureLink } from './measure-link.js'
export type { ReadableEvent } from './message-buffer.js'
export * from './object-bucket.js'
export * from './server-users.js'
export * from './stream-headers.js'
export * from './stream-log.js'
export { readMessageId, type StreamMessage } from './stream-message.js'
export * from './stream-owner.js'
export { streamSequences } from './stream-sequences.js'
export * from './stream-tail.js'
export {
  ensureStreams,
  formatOwnedDescription,
  openStreamManager,
  type StreamOptions,
  streamInfo,
  toStreamOptions,
} from './streams.js'
export * from './subject-match.js'
export { subscribeEvents } from './subscribe-events.js'
export * from './topic-event-id.js'
