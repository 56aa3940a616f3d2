import type { InjectedFault } from './relay-run.fixture.js'

/** Faults that a relay or its dependencies might have; the simulation must detect each of them. */
export const injectedFaults: Record<string, InjectedFault> = {
  'a commit without its outbox row': { withoutOutbox: true },
  'an event that is offered before its commit': { offersEarly: true },
  'an aggregate that is not kept in order': {
    offers: (event) => ({ ...event, streamId: event.id, version: 1 }),
    store: (store) => ({
      ...store,
      events: async (positions) =>
        (await store.events(positions)).map((event) => ({ ...event, streamId: event.id })),
    }),
  },
  'a lease that is given to all': {
    store: (store) => ({
      ...store,
      acquireLease: async (owner, fence) => {
        const taken = await store.acquireLease(owner, fence)
        return 'fence' in taken ? taken : { owner, fence: fence ?? '1' }
      },
      poll: async (after, limit, lease) => ({
        ...(await store.poll(after, limit, lease)),
        isLeaseHeld: lease && true,
      }),
      record: async (lease, progress) => (await store.record(lease, progress)) || true,
    }),
  },
  'a lease that is not renewed': {
    store: (store) => ({
      ...store,
      poll: async (after, limit, lease) => ({
        ...(await store.poll(after, limit)),
        isLeaseHeld: lease && true,
      }),
    }),
  },
  'an outbox that is read as if no transaction were open below its end': {
    store: (store) => ({ ...store, edge: async () => ({ ...(await store.edge()), writers: [] }) }),
  },
  'positions that are drawn again after a crash': {
    store: (store) => ({
      ...store,
      edge: async () => ({ ...(await store.edge()), flushed: Number.POSITIVE_INFINITY }),
    }),
  },
  'a mark that covers what is not published': {
    store: (store) => ({
      ...store,
      record: (lease, progress) =>
        store.record(lease, {
          ...progress,
          mark: progress.mark && { ...progress.mark, floor: progress.mark.floor + 2 },
        }),
    }),
  },
  'a stream that is not filled again': {
    store: (store) => ({
      ...store,
      refill: async (_, { standing }) => ({ floor: standing?.floor ?? 0, events: 0 }),
    }),
  },
  'a message id that is new with each attempt': {
    messageId: (id, world) => `${id}.${world.now}`,
  },
  'an event that is taken out of the outbox before it is published': {
    store: (store) => ({
      ...store,
      events: async (positions) => {
        const events = await store.events(positions)
        return events.length > 1 ? events.slice(1) : events
      },
    }),
  },
}
