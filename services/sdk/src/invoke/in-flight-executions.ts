import {
  type ClaimedRow,
  createWorkspaceSlots,
  type ResidentRow,
  type ResidentWork,
} from '@opsplane/postgres'

export interface InFlightOptions<Row extends ResidentRow> {
  /** Maximum number of executions in flight, in total and of one workspace. */
  limits: { all: number; ofOne: number }
  workspaceOf(row: Row): string
  /** Continues an execution that was taken over; resolves when it has ended. */
  resume(row: Row, execution: InFlightExecution): Promise<void>
  releaseLeases(rows: readonly ClaimedRow[]): Promise<unknown>
}

/** An execution this replica is working on. */
export interface InFlightExecution {
  id: string
  workspaceId: string
  fence: string
  /** Whether its lease is committed: before that there is no lease to renew or lose. */
  isLeased: boolean
  /** Aborts when the execution is cancelled, leased by another replica, or the service is stopped. */
  ending: AbortController
  /** Whether another replica may restart it, so that its lease is released when the service is stopped. */
  mayPass: boolean
}

/** Why work on an execution is aborted from outside. */
export type StopReason = 'cancelled' | 'lost' | 'stopped'

/** The executions this replica is working on, limited in total and for each workspace. */
export interface InFlightExecutions<Row extends ResidentRow> extends ResidentWork<Row> {
  /**
   * Adds an execution leased at its creation; the returned function removes it. Returns `undefined` if there is no
   * capacity.
   */
  enter(execution: InFlightExecution): (() => void) | undefined
  get(id: string): InFlightExecution | undefined
}

export function createInFlightExecutions<Row extends ResidentRow>(
  options: InFlightOptions<Row>,
): InFlightExecutions<Row> {
  const { limits, workspaceOf } = options
  const executions = new Map<string, InFlightExecution>()
  const slots = createWorkspaceSlots(limits)
  const running = new Set<Promise<void>>()

  function track(execution: InFlightExecution): () => void {
    executions.set(execution.id, execution)
    slots.occupy(execution.workspaceId)
    let finish: () => void = () => {}
    const completion = new Promise<void>((resolve) => {
      finish = resolve
    })
    running.add(completion)
    return () => {
      if (executions.get(execution.id) === execution) executions.delete(execution.id)
      running.delete(completion)
      finish()
      slots.free(execution.workspaceId)
    }
  }

  return {
    capacity: slots.capacity,
    waitForCapacity: slots.waitForCapacity,
    enter: (execution) => (slots.hasSlotFor(execution.workspaceId) ? track(execution) : undefined),
    get: (id) => executions.get(id),
    leasedRows: () =>
      [...executions.values()]
        .filter(({ isLeased }) => isLeased)
        .map(({ id: key, fence }) => ({ key, fence })),
    accept(rows) {
      for (const row of rows) {
        const execution: InFlightExecution = {
          ...{ id: row.key, workspaceId: workspaceOf(row), fence: row.fence, isLeased: true },
          ...{ ending: new AbortController(), mayPass: true },
        }
        const leave = track(execution)
        void options.resume(row, execution).finally(leave)
      }
    },
    onLeasesLost(rows) {
      for (const { key, fence } of rows) {
        const execution = executions.get(key)
        if (execution?.fence === fence) execution?.ending.abort('lost' satisfies StopReason)
      }
    },
    async drain(graceMs) {
      slots.close()
      const stop = setTimeout(() => {
        for (const { ending } of executions.values()) ending.abort('stopped' satisfies StopReason)
      }, graceMs)
      const passing = [...executions.values()].filter(({ mayPass }) => mayPass)
      await Promise.all(running)
      clearTimeout(stop)
      const back = passing.filter(({ ending }) => ending.signal.aborted)
      if (back.length > 0) await options.releaseLeases(back.map(({ id: key, fence }) => ({ key, fence })))
    },
  }
}
