import {
  type ClaimedRow,
  createWorkspaceSlots,
  type ResidentRow,
  type ResidentWork,
} from '@opsplane/postgres'

export interface InHandOptions<Row extends ResidentRow> {
  /** Executions in hand at most, and of one workspace. */
  most: { all: number; ofOne: number }
  workspaceOf(row: Row): string
  /** Goes on with an execution that was taken over; resolves when it is over. */
  resume(row: Row, hand: Hand): Promise<void>
  giveBack(held: readonly ClaimedRow[]): Promise<unknown>
}

/** An execution that is worked on here. */
export interface Hand {
  id: string
  workspaceId: string
  fence: string
  /** Whether its lease is committed: what is being begun has none yet that could be renewed, or lost. */
  isLeased: boolean
  /** Aborts when it is cancelled, has passed to somebody else, or the service is being stopped. */
  ending: AbortController
  /** Whether somebody else may begin it again, so that it is given back when the service is stopped. */
  mayPass: boolean
}

/** Why work on an execution is ended from outside. */
export type Ending = 'cancelled' | 'lost' | 'stopped'

/** What is worked on here: at most so much at once, and of one workspace. */
export interface InHand<Row extends ResidentRow> extends ResidentWork<Row> {
  /** Takes in an execution that was leased by whoever made it, until what is returned is called; undefined where there is no room. */
  enter(hand: Hand): (() => void) | undefined
  get(id: string): Hand | undefined
}

export function createInHand<Row extends ResidentRow>(options: InHandOptions<Row>): InHand<Row> {
  const { most, workspaceOf } = options
  const hands = new Map<string, Hand>()
  const places = createWorkspaceSlots(most)
  const under = new Set<Promise<void>>()

  function hold(hand: Hand): () => void {
    hands.set(hand.id, hand)
    places.take(hand.workspaceId)
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
    room: places.room,
    moreRoom: places.moreRoom,
    enter: (hand) => (places.hasRoomFor(hand.workspaceId) ? hold(hand) : undefined),
    get: (id) => hands.get(id),
    held: () =>
      [...hands.values()].filter(({ isLeased }) => isLeased).map(({ id: key, fence }) => ({ key, fence })),
    take(rows) {
      for (const row of rows) {
        const hand: Hand = {
          ...{ id: row.key, workspaceId: workspaceOf(row), fence: row.fence, isLeased: true },
          ...{ ending: new AbortController(), mayPass: true },
        }
        const leave = hold(hand)
        void options.resume(row, hand).finally(leave)
      }
    },
    lost(held) {
      for (const { key, fence } of held) {
        const hand = hands.get(key)
        if (hand?.fence === fence) hand?.ending.abort('lost' satisfies Ending)
      }
    },
    async drain(graceMs) {
      places.close()
      const stop = setTimeout(() => {
        for (const { ending } of hands.values()) ending.abort('stopped' satisfies Ending)
      }, graceMs)
      const passing = [...hands.values()].filter(({ mayPass }) => mayPass)
      await Promise.all(under)
      clearTimeout(stop)
      const back = passing.filter(({ ending }) => ending.signal.aborted)
      if (back.length > 0) await options.giveBack(back.map(({ id: key, fence }) => ({ key, fence })))
    },
  }
}
