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
  limits: { all: number; ofOne: number },
  { mayExceed = false }: { mayExceed?: boolean } = {},
): WorkspaceSlots {
  const usedSlots = createKeyedCounts()
  let closed = false
  let waiting: { promise: Promise<void>; resolve: () => void } | undefined

  return {
    occupy(workspaceId) {
      usedSlots.add(workspaceId, 1)
    },
    free(workspaceId) {
      usedSlots.add(workspaceId, -1)
      waiting?.resolve()
      waiting = undefined
    },
    hasSlotFor(workspaceId) {
      const count = usedSlots.of(workspaceId)
      if (closed) return false
      return (count < limits.ofOne && usedSlots.total < limits.all) || (mayExceed && count === 0)
    },
    capacity() {
      const full = new Set<string>()
      let largest = 0
      for (const [workspaceId, count] of usedSlots.entries()) {
        if (count >= limits.ofOne) full.add(workspaceId)
        else largest = Math.max(largest, count)
      }
      return { all: closed ? 0 : limits.all - usedSlots.total, ofOne: limits.ofOne - largest, full }
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
