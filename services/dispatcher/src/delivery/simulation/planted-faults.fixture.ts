import type { PlantedFault } from './dispatcher-run.fixture.js'

/** Possible faults of the dispatcher or its dependencies. The simulation must detect each of them. */
export const plantedFaults: Record<string, PlantedFault> = {
  'an event that counts as fanned out as it arrives': { acksOnArrival: true },
  'a delivery that is leased to several replicas': {
    store: (store) => ({
      ...store,
      claim: async (options) => store.claim({ ...options, leaseMs: -options.leaseMs }),
    }),
  },
  'a request that is made after its lease has ended': {
    attempt: (attempt) => (target, content, signal) => attempt(target, content, signal),
  },
  'a body that differs with each attempt': {
    attempt: (attempt) => {
      let attempts = 0
      return (target, content, ...rest) =>
        attempt(target, Object.assign(content, { text: `${content.text} ${++attempts}` }), ...rest)
    },
  },
  'a failure that is recorded as a success': {
    store: (store) => ({
      ...store,
      record: (batch) =>
        store.record(batch.map((result) => ({ ...result, row: { ...result.row, status: 'succeeded' } }))),
    }),
  },
  'results that are recorded twice under other numbers': {
    store: (store) => ({
      ...store,
      record: async (batch) => {
        await store.record(batch)
        return store.record(
          batch.map((result) => ({ ...result, row: { ...result.row, number: result.row.number + 1 } })),
        )
      },
    }),
  },
  'webhooks that are read once and for all': {
    store: (store) => {
      let read: ReturnType<typeof store.loadWebhooks> | undefined
      return {
        ...store,
        loadWebhooks: (tenants) => (read ??= store.loadWebhooks(tenants)),
        insert: async (batch) => store.insert({ ...batch, revisions: [] }),
      }
    },
  },
  'an ordering queue that is released before all is fanned out': { lowWatermark: '~' },
  'a rate limit that is each replica’s own': {
    store: (store) => ({
      ...store,
      book: async (request) => {
        const booking = await store.book(request)
        return booking.kind === 'taken'
          ? {
              kind: 'booked',
              firstInMs: 0,
              count: request.count,
              intervalMs: 1,
              perSecond: request.perSecond,
            }
          : booking
      },
    }),
  },
  'deliveries of deleted webhooks that are never ended': {
    store: (store) => ({ ...store, cleanUp: async () => false }),
  },
}
