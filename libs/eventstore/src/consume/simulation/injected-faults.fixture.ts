import type { InjectedFault } from './consumer-run.fixture.js'

/** Faults that a consumer or its dependencies might have; the simulation must detect each of them. */
export const injectedFaults: Record<string, InjectedFault> = {
  'an acknowledgement on arrival': { acksOnArrival: true },
  'an acknowledgement that does not wait for the commit': {
    tables: (tables) => ({
      ...tables,
      transaction: async (work) => {
        let isDone: () => void = () => {}
        const done = new Promise<void>((resolve) => {
          isDone = resolve
        })
        const committing = tables.transaction(async (tx) => {
          await work(tx)
          isDone()
        })
        await Promise.race([done, committing])
        committing.catch(() => {})
      },
    }),
  },
  'an effect that is not keyed by its event': { isUnkeyed: true },
  'a dead letter that is not kept': { tables: (tables) => ({ ...tables, deadLetter: async () => {} }) },
  'a floor that covers what is not published': { floorAbove: 2 },
  'a place that is ahead of what is acknowledged': {
    tables: (tables) => ({
      ...tables,
      place: async () => {
        const place = await tables.place()
        return place && { ...place, ackFloor: place.ackFloor + 1_000 }
      },
    }),
  },
  'a log that is read from too late a position': {
    tables: (tables) => ({ ...tables, readUpTo: async (source) => (await tables.readUpTo(source)) + 3 }),
  },
  'a dead letter that ends without its effect': {
    tables: (tables) => ({
      ...tables,
      nextMarked: (after, redo) =>
        tables.nextMarked(after, (marked) => redo({ ...marked, effect: async () => {} })),
    }),
  },
}
