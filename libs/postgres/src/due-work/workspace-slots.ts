import { createKeyedCounts } from '@opsplane/runtime'
import type { ResidentWork } from './resident-worker.js'

/** The slots of a holder, limited in total and per workspace. */
interface WorkspaceSlots extends Pick<ResidentWork<never>, 'capacity' | 'waitForCapacity'> {
  occupy(workspaceId: string): void
  free(workspaceId: string): void
  /** Whether there is a slot for one more row of this workspace. */
  hasSlotFor(workspaceId: string): boolean
  /** No further slots are available. */
  close(): void
}

/**
 * `mayExceed`: a workspace without work in flight gets a slot even if all are occupied, so that others cannot
 * delay it.
 */
export function createWorkspaceSlots(
  most: { all: number; ofOne: number },
  { mayExceed = false }: { mayExceed?: boolean } = {},
): WorkspaceSlots {
  const taken = createKeyedCounts()
  let closed = false
  let waiting: { promise: Promise<void>; resolve: () => void } | undefined

  return {
    occupy(workspaceId) {
      taken.add(workspaceId, 1)
    },
    free(workspaceId) {
      taken.add(workspaceId, -1)
      waiting?.resolve()
      waiting = undefined
    },
    hasSlotFor(workspaceId) {
      const count = taken.of(workspaceId)
      if (closed) return false
      return (count < most.ofOne && taken.total < most.all) || (mayExceed && count === 0)
    },
    capacity() {
      const full = new Set<string>()
      let largest = 0
      for (const [workspaceId, count] of taken.entries()) {
        if (count >= most.ofOne) full.add(workspaceId)
        else largest = Math.max(largest, count)
      }
      return { all: closed ? 0 : most.all - taken.total, ofOne: most.ofOne - largest, full }
    },
    waitForCapacity() {
      if (!waiting) {
        let resolve = () => {}
        const promise = new Promise<void>((done) => {
          resolve = done
        })
        waiting = { promise, resolve }
      }
      return waiting.promise
    },
    close() {
      closed = true
    },
  }
}
