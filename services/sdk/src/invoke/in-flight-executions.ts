import {
  type ClaimedRow,
  createWorkspaceSlots,
  type ResidentRow,
  type ResidentWork,
} from '@opsplane/postgres'

export interface InFlightOptions<Row extends ResidentRow> {
  /** Executions in flight at most, and of one workspace. */
  limits: { all: number; ofOne: number }
  workspaceOf(row: Row): string
  /** Goes on with an execution that was taken over; resolves when it is over. */
  resume(row: Row, execution: InFlightExecution): Promise<void>
  releaseLeases(rows: readonly ClaimedRow[]): Promise<unknown>
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

/** What is worked on here: at most so many executions, in all and of one workspace. */
export interface InFlightExecutions<Row extends ResidentRow> extends ResidentWork<Row> {
  /** Adds an execution that was leased when it was created, until the returned function is called; undefined where there is no room. */
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
    const ended = new Promise<void>((resolve) => {
      finish = resolve
    })
    running.add(ended)
    return () => {
      if (executions.get(execution.id) === execution) executions.delete(execution.id)
      running.delete(ended)
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
