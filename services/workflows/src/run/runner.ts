import { type ClaimedRow, createWorkspaceSlots, type ResidentWork } from '@opsplane/postgres'
import { type ActiveRun, type ActiveRunOptions, createActiveRun, type Leaving } from './active-run.js'
import type { FoldedRun } from './folded-run.js'
import { type LeasedRun, toClaimedRun } from './lease.js'
import type { LoadedJournal } from './load-journals.js'
import type { ClaimedRun, Origin } from './model.js'
import { type SignalEnvelope, type SignalResult, wrapOwnSignal } from './signal-envelope.js'
import type { WorkInFlight } from './start-eagerly.js'

export interface RunnerOptions
  extends Pick<ActiveRunOptions, 'nowMs' | 'commit' | 'perform' | 'readInbox' | 'keepsTrace' | 'moved'> {
  /** Maximum number of active runs, in total and of one workspace. */
  maxRuns: { all: number; ofOne: number }
  /** A run is no longer attempted after this many consecutive worker crashes at the same step. */
  maxDeaths: number
  /** Loads journals of runs; retries while Postgres is unavailable. */
  journals(runIds: readonly string[]): Promise<Map<string, LoadedJournal>>
  /** Folds a run. Throws if the run cannot be continued. */
  foldedRunOf(run: ClaimedRun, journal: LoadedJournal): Promise<FoldedRun>
  /** Called when this process no longer executes the run. */
  left(run: ActiveRun, exit: Leaving): void
  /** Called when a run cannot be continued; the run is delayed. */
  failed(run: LeasedRun, error: unknown): void
  /** Called when a delayed run can be continued: its failure was not a worker crash. */
  recovered(run: LeasedRun): Promise<unknown>
  /** Called after leases were renewed. */
  renewed(): void
  /** Releases leases, so that other workers continue immediately. */
  releaseRuns(leases: readonly ClaimedRow[]): Promise<unknown>
}

/** The runs this process executes. */
export interface Runner extends ResidentWork<LeasedRun> {
  /** Adds a run that was leased at its creation, and executes it if it has work to do. */
  enter(
    run: ClaimedRun,
    begun: { origin: Origin; inFlight?: WorkInFlight | undefined },
    folded: FoldedRun,
  ): ActiveRun
  has(runId: string): boolean
  /** Returns the run once it is loaded; `undefined` if this process does not execute it. */
  get(runId: string): Promise<ActiveRun | undefined>
  /** Executes a run that was leased by its id, starting with this signal. */
  acceptWithSignal(row: LeasedRun, first: SignalEnvelope): Promise<SignalResult>
  /** Fence under which this process executes the run. */
  fenceOf(runId: string): string | undefined
  /** Whether there is capacity for another run of a workspace that is started by a request. */
  hasRoomFor(workspaceId: string): boolean
}

interface Slot {
  fence: string
  workspaceId: string
  active: Promise<ActiveRun | undefined>
  run?: ActiveRun
}

/** The signal for which a run is taken over. */
interface Entering {
  presented: SignalEnvelope
  received(signalResult: SignalResult): void
}

const diedTooOften = (times: number) => ({
  kind: 'abandon' as const,
  code: 'worker_died',
  message: `Its worker died ${times} times in a row at the same step.`,
})

type Perform = RunnerOptions['perform']

/** Continues work started together with the run instead of starting it again. */
const goingOnWith =
  ({ task, signal, abort }: WorkInFlight, perform: Perform): Perform =>
  (run, requestedTask, aborted) => {
    if (requestedTask.id !== task) return perform(run, requestedTask, aborted)
    aborted.addEventListener('abort', abort, { once: true })
    return signal
  }

/** Maximum total size of journals read together. */
const maxBytesAtOnce = 16 * 1024 * 1024

export function createRunner(options: RunnerOptions): Runner {
  const { maxRuns, nowMs } = options
  const slots = new Map<string, Slot>()
  const places = createWorkspaceSlots(maxRuns, { mayExceed: true })
  let timer: NodeJS.Timeout | undefined
  let timerAt = Number.POSITIVE_INFINITY
  const due = new Map<string, number>()
  let draining = false

  function occupySlot(id: string, slot: Slot) {
    const before = slots.get(id)
    if (before) places.free(before.workspaceId)
    slots.set(id, slot)
    places.occupy(slot.workspaceId)
  }

  function free(id: string, fence: string) {
    const slot = slots.get(id)
    if (slot?.fence !== fence) return
    slots.delete(id)
    due.delete(id)
    places.free(slot.workspaceId)
  }

  /** One timer for all active runs. */
  function schedule(run: ActiveRun, at: number) {
    due.set(run.identity.id, at)
    if (at < timerAt) arm(at)
  }
  function arm(at: number) {
    clearTimeout(timer)
    timerAt = at
    if (at === Number.POSITIVE_INFINITY || draining) return
    timer = setTimeout(tick, Math.min(Math.max(at - nowMs(), 0), 60_000))
  }
  function tick() {
    const now = nowMs()
    let next = Number.POSITIVE_INFINITY
    for (const [id, at] of due) {
      if (at > now) next = Math.min(next, at)
      else {
        due.delete(id)
        void slots.get(id)?.run?.present(wrapOwnSignal({ kind: 'tick' }))
      }
    }
    arm(next)
  }

  function begin(run: ClaimedRun, origin: Origin, folded: FoldedRun, inFlight?: WorkInFlight): ActiveRun {
    const { nowMs: now, commit, readInbox, keepsTrace, moved } = options
    const perform = inFlight ? goingOnWith(inFlight, options.perform) : options.perform
    return createActiveRun({
      ...{ run, origin, folded, nowMs: now, commit, perform, readInbox, keepsTrace, moved, schedule },
      left(active, exit) {
        free(run.identity.id, run.fence)
        options.left(active, exit)
      },
    })
  }

  /** Continues a run that was taken over; a signal it was taken over for is processed first. */
  async function resume(
    row: LeasedRun,
    journal: LoadedJournal | undefined,
    first?: Entering,
  ): Promise<ActiveRun | undefined> {
    const run = toClaimedRun(row)
    if (!journal) throw new Error(`${row.key} has no journal`)
    const active = begin(run, journal.origin, await options.foldedRunOf(run, journal))
    const slot = slots.get(row.key)
    if (draining || slot?.fence !== row.fence) {
      first?.received('gone')
      return undefined
    }
    slot.run = active
    if (first) first.received(await active.present(first.presented))
    const hasDied = row.last_error === null && row.failures >= options.maxDeaths
    if (row.last_error !== null) await options.recovered(row)
    if (hasDied) void active.present(wrapOwnSignal(diedTooOften(row.failures)))
    else if (run.signals > 0 || active.awaitsInput()) await active.checkInbox()
    void active.present(
      wrapOwnSignal(active.progress().status === 'queued' ? { kind: 'start' } : { kind: 'tick' }),
    )
    return active
  }

  function resumeAll(rows: readonly LeasedRun[], first?: Entering) {
    for (const part of bySize(rows)) {
      const journals = options.journals(part.map(({ key }) => key))
      for (const row of part) {
        const active = journals
          .then((found) => resume(row, found.get(row.key), first))
          .catch((error: unknown) => {
            free(row.key, row.fence)
            first?.received('gone')
            options.failed(row, error)
            return undefined
          })
        occupySlot(row.key, { fence: row.fence, workspaceId: row.workspace_id, active })
      }
    }
  }

  return {
    capacity: places.capacity,
    waitForCapacity: places.waitForCapacity,
    hasRoomFor: places.hasSlotFor,
    onRenewed: () => options.renewed(),
    leasedRows: () => [...slots].map(([key, { fence }]) => ({ key, fence })),
    accept: (rows) => resumeAll(rows),
    acceptWithSignal(row, envelope) {
      slots.get(row.key)?.run?.drop()
      return new Promise((received) => resumeAll([row], { presented: envelope, received }))
    },
    fenceOf: (runId) => slots.get(runId)?.fence,
    onLeasesLost(leases) {
      for (const { key, fence } of leases) {
        const slot = slots.get(key)
        if (slot?.fence === fence) slot?.run?.drop()
      }
    },
    enter(run, { origin, inFlight }, folded) {
      const active = begin(run, origin, folded, inFlight)
      const { id, tenant } = run.identity
      occupySlot(id, {
        fence: run.fence,
        workspaceId: tenant.workspaceId,
        active: Promise.resolve(active),
        run: active,
      })
      void active.present(wrapOwnSignal({ kind: 'tick' }))
      return active
    },
    has: (runId) => slots.has(runId),
    get: async (runId) => slots.get(runId)?.active,
    async drain() {
      draining = true
      places.close()
      clearTimeout(timer)
      const rows = [...slots].map(([key, { fence }]) => ({ key, fence }))
      for (const { run } of slots.values()) run?.drop()
      await options.releaseRuns(rows)
    },
  }
}

function bySize(rows: readonly LeasedRun[]): LeasedRun[][] {
  const parts: LeasedRun[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (bytes + row.bytes > maxBytesAtOnce) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(row)
    bytes += row.bytes
  }
  return parts
}
