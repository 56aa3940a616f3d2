import {
  type ClaimedRow,
  createWorkspaceSlots,
  type ResidentRow,
  type ResidentWork,
} from '@opsplane/postgres'

export interface InFlightOptions<Row extends HeldRow> {
  /** Executions in flight at most, and of one workspace. */
  most: { all: number; ofOne: number }
  workspaceOf(row: Row): string
  /** Goes on with an execution that was taken over; resolves when it is over. */
  resume(row: Row, hand: InFlightExecution): Promise<void>
  giveBack(held: readonly Held[]): Promise<unknown>
}

/** An execution that is worked on here. */
export interface InFlightExecution {
  id: string
  workspaceId: string
  fence: string
  /** Whether its lease is committed: what is being begun has none yet that could be renewed, or lost. */
  isLeased: boolean
  /** Aborts when it is cancelled, another replica has leased it, or the service is being stopped. */
  ending: AbortController
  /** Whether another replica may start it again, so that its lease is released when the service is stopped. */
  mayPass: boolean
}

/** Why work on an execution is ended from outside. */
export type StopReason = 'cancelled' | 'lost' | 'stopped'

/** What is worked on here: at most so much at once, and of one workspace. */
export interface InFlightExecutions<Row extends HeldRow> extends Holder<Row> {
  /** Adds an execution that was leased when it was created, until the returned function is called; undefined where there is no room. */
  enter(hand: InFlightExecution): (() => void) | undefined
  get(id: string): InFlightExecution | undefined
}

export function createInFlightExecutions<Row extends HeldRow>(
  options: InFlightOptions<Row>,
): InFlightExecutions<Row> {
  const { most, workspaceOf } = options
  const hands = new Map<string, InFlightExecution>()
  const places = createPlaces(most)
  const under = new Set<Promise<void>>()

  function hold(hand: InFlightExecution): () => void {
    hands.set(hand.id, hand)
    places.occupy(hand.workspaceId)
    let over: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      over = resolve
    })
    under.add(ended)
    return () => {
      if (hands.get(hand.id) === hand) hands.delete(hand.id)
      under.delete(ended)
      over()
      places.free(hand.workspaceId)
    }
  }

  return {
    capacity: places.capacity,
    waitForCapacity: places.waitForCapacity,
    enter: (hand) => (places.hasSlotFor(hand.workspaceId) ? hold(hand) : undefined),
    get: (id) => hands.get(id),
    leasedRows: () =>
      [...hands.values()].filter(({ isLeased }) => isLeased).map(({ id: key, fence }) => ({ key, fence })),
    accept(rows) {
      for (const row of rows) {
        const hand: InFlightExecution = {
          ...{ id: row.key, workspaceId: workspaceOf(row), fence: row.fence, isLeased: true },
          ...{ ending: new AbortController(), mayPass: true },
        }
        const leave = hold(hand)
        void options.resume(row, hand).finally(leave)
      }
    },
    onLeasesLost(held) {
      for (const { key, fence } of held) {
        const hand = hands.get(key)
        if (hand?.fence === fence) hand?.ending.abort('lost' satisfies StopReason)
      }
    },
    async drain(graceMs) {
      places.close()
      const stop = setTimeout(() => {
        for (const { ending } of hands.values()) ending.abort('stopped' satisfies StopReason)
      }, graceMs)
      const passing = [...hands.values()].filter(({ mayPass }) => mayPass)
      await Promise.all(under)
      clearTimeout(stop)
      const back = passing.filter(({ ending }) => ending.signal.aborted)
      if (back.length > 0) await options.giveBack(back.map(({ id: key, fence }) => ({ key, fence })))
    },
  }
}
