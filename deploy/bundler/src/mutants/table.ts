/** A fault that is inserted into the source, and the tests that must detect it. */
export interface Mutant {
  name: string
  /** Path relative to the root. */
  file: string
  /** Text to replace; occurs exactly once in the file. */
  search: string
  replace: string
  /** Parts of the paths of test files, as Jest accepts them. */
  tests: readonly string[]
  /** Part of the title of the test that detects the fault, if other tests of the file would wait until they time out. */
  title?: string
}

const relaySimulation = 'libs/eventstore/dist/relay/simulation/relay-simulation'
const consumerSimulation = 'libs/eventstore/dist/consume/simulation/consumer-simulation'
const dispatcherSimulation = 'services/dispatcher/dist/delivery/simulation/dispatcher-simulation'
const relayStore = 'libs/eventstore/dist/relay/simulation/relay-store'
const dueWork = 'libs/postgres/dist/due-work/due-work.int'
const eventstore = 'libs/eventstore/src'
const dispatcher = 'services/dispatcher/src'

/**
 * Kinds of faults that lose, repeat or misdirect data the platform guarantees. A fault that no test detects means a
 * test is missing.
 */
export const mutants: readonly Mutant[] = [
  {
    name: 'a commit without its outbox row',
    file: `${eventstore}/append/append-statement.ts`,
    search: 'select position, workspace_id, id from appended)',
    replace: 'select position, workspace_id, id from appended where false)',
    tests: ['libs/eventstore/dist/relay/relay.int'],
  },
  {
    name: 'an acknowledgement before the effect',
    file: 'libs/nats/src/batch-handling.ts',
    search: '      await (blamed ?',
    replace: '      for (const { message } of free) message.ack()\n      await (blamed ?',
    tests: [consumerSimulation],
  },
  {
    name: 'a dead letter that is not stored',
    file: 'libs/nats/src/batch-handling.ts',
    search: 'await patiently(() => onDead(message, error))',
    replace: 'await patiently(async () => {})',
    tests: [consumerSimulation],
  },
  {
    name: 'messages of an earlier consumer that are acknowledged to the next',
    file: 'libs/nats/src/pull/acknowledgements.ts',
    search: 'if (created !== found) onAnother()',
    replace: '',
    tests: ['libs/nats/dist/pull/acknowledgements', consumerSimulation],
  },
  {
    name: 'acknowledgements that do not wait until the consumer is known to be the same',
    file: 'libs/nats/src/pull/acknowledgements.ts',
    search: '      changes++\n      suspend()',
    replace: '      changes++',
    tests: ['libs/nats/dist/pull/acknowledgements'],
  },
  {
    name: 'a low watermark above what is acknowledged',
    file: `${eventstore}/consume/low-watermarks.ts`,
    search: 'if (seq <= sequence && floor',
    replace: 'if (floor',
    tests: ['libs/eventstore/dist/consume/low-watermarks', consumerSimulation],
  },
  {
    name: 'messages that a stream drops between two inspections',
    file: `${eventstore}/consume/track-progress.ts`,
    search: 'place.lastSequence > before.lastSequence',
    replace: 'false',
    tests: [consumerSimulation],
  },
  {
    name: 'a dead letter that is redriven without its effect',
    file: `${eventstore}/consume/redrive.ts`,
    search: 'await effect((tx) => apply(letter, tx))',
    replace: 'void effect',
    tests: [consumerSimulation],
  },
  {
    name: 'a lease that its holder believes in after its end',
    file: `${eventstore}/relay/relay-lease.ts`,
    search: 'lastsMs: () => deadline - timers.now()',
    replace: 'lastsMs: () => leaseMs',
    tests: [relaySimulation],
  },
  {
    name: 'a fence that the relay’s statements ignore',
    file: `${eventstore}/relay/relay-store.ts`,
    search: "where name = 'relay' and owner = $1 and fence = $2::text::bigint returning 1)`",
    replace: "where name = 'relay' and owner = $1 and $2::text is not null returning 1)`",
    tests: [relayStore],
  },
  {
    name: 'an outbox that is read as if no transaction were open below its end',
    file: `${eventstore}/relay/outbox-reader.ts`,
    search: 'if (next.writers.size > 0 || flushed < next.logged) return',
    replace: 'if (flushed < next.logged) return',
    tests: [relaySimulation],
  },
  {
    name: 'positions that Postgres draws again after a crash',
    file: `${eventstore}/relay/outbox-reader.ts`,
    search: 'if (next.writers.size > 0 || flushed < next.logged) return',
    replace: 'if (next.writers.size > 0) return',
    tests: [relaySimulation],
  },
  {
    name: 'a crash of Postgres between two looks at the log that is not noticed',
    file: `${eventstore}/relay/outbox-reader.ts`,
    search: ' || next.history !== history',
    replace: '',
    tests: ['libs/eventstore/dist/relay/outbox-reader'],
  },
  {
    name: 'a message id that differs with each attempt',
    file: `${eventstore}/relay/publish-event.ts`,
    search: 'carried.set(eventHeaders.messageId, messageId)',
    replace: 'carried.set(eventHeaders.messageId, messageId + Math.random())',
    tests: [relaySimulation],
  },
  {
    name: 'a loss of the stream that is not noticed',
    file: `${eventstore}/relay/verify-stream.ts`,
    search: 'if (!found.lost) {',
    replace: 'if (found) {',
    tests: [relaySimulation],
  },
  {
    name: 'marks that stand on what the relay has removed',
    file: `${eventstore}/relay/stream-progress.ts`,
    search: 'marks = marks.filter((one) => one.sequence !== sequence)',
    replace: '',
    tests: ['libs/eventstore/dist/relay/stream-progress'],
  },
  {
    name: 'a refill that leaves what stands before its predecessors',
    file: `${eventstore}/relay/relay-leadership.ts`,
    search: 'isMisplaced(ack, event, last) ? republish(event, ack, last) : ack',
    replace: 'ack',
    tests: [relaySimulation],
  },
  {
    name: 'a refill that begins behind the first event of the log',
    file: `${eventstore}/relay/refill-outbox.ts`,
    search: 'where events.id < oldest.id)',
    replace: 'where events.id >= oldest.id)',
    tests: [relayStore],
  },
  {
    name: 'a fence of due work that is ignored',
    file: 'libs/postgres/src/due-work/statements.ts',
    search: ' and lease_fence = held_fence::bigint and lease_owner is not null',
    replace: ' and (held_fence is null or lease_owner is not null)',
    tests: [dueWork],
    title: 'that has passed to another holder invalidates the result of the former one',
  },
  {
    name: 'a lease of due work that is not renewed',
    file: 'libs/postgres/src/due-work/leased-worker.ts',
    search: 'renewing = setInterval(() => void renew().catch(() => {}), leaseMs / 3).unref()',
    replace: 'renewing = setInterval(() => void renew, leaseMs / 3).unref()',
    tests: [dueWork],
    title: 'is renewed while the attempt lasts',
  },
  {
    name: 'a delivery whose retry has another id',
    file: `${dispatcher}/delivery/send/attempt.ts`,
    search: '...{ eventId: id, eventType: type,',
    replace: '...{ eventId: id + nowMs(), eventType: type,',
    tests: ['services/dispatcher/dist/delivery/send/sending.int'],
  },
  {
    name: 'an event that goes to the webhooks of another workspace',
    file: `${dispatcher}/delivery/events/batch.ts`,
    search: 'const found = byTenant.get(tenantKey(tenant))',
    replace: 'const found = byTenant.get(tenantKey(tenant)) && tenants.at(-1)',
    tests: ['services/dispatcher/dist/delivery/events/batch'],
  },
  {
    name: 'a delivery that is sent after its lease has ended',
    file: `${dispatcher}/delivery/send/send.ts`,
    search: 'const isInTime = () => now() < job.sendBefore',
    replace: 'const isInTime = () => true',
    tests: [dispatcherSimulation],
    title: 'each event is delivered, or its delivery has a reason of failure',
  },
  {
    name: 'a retry that is recorded as the first attempt',
    file: `${dispatcher}/delivery/enqueue/claimed-jobs.ts`,
    search: 'attempts: row.attempts,',
    replace: 'attempts: 0,',
    tests: ['services/dispatcher/dist/delivery/enqueue/poller'],
  },
  {
    name: 'an ordering queue that is released by a low watermark of everything',
    file: `${dispatcher}/delivery/ordering/ordering-queues.ts`,
    search: 'if (raised > lowWatermark) lowWatermark = raised',
    replace: "lowWatermark = '~'",
    tests: [dispatcherSimulation],
    title: 'each event is delivered, or its delivery has a reason of failure',
  },
  {
    name: 'a delivery that is given up one attempt too soon',
    file: `${dispatcher}/delivery/domain.ts`,
    search: 'if (attempt > policy.retries)',
    replace: 'if (attempt >= policy.retries)',
    tests: ['services/dispatcher/dist/delivery/domain'],
  },
  {
    name: 'an internal route that any service may call',
    file: 'libs/http/src/calls/authenticate.ts',
    search: 'route.callers.some((caller) => caller === issuer)',
    replace: 'route.callers.length > 0',
    tests: ['libs/http/dist/calls/authenticate'],
  },
]
