import { type ChangedSignal, ChangedType, maxChangedIds } from '@opsplane/contracts'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

/** That some resources of a type have changed, written once for all that read it. */
export interface ChangedFrame {
  type: ChangedType
  /** As a server-sent event, which has no place in the log. */
  frame: string
}

/** Must not throw. */
export type ChangesListener = (changed: ChangedFrame) => void

const everyMs = 1_000

const frameOf = (signal: ChangedSignal): ChangedFrame => ({
  type: signal.type,
  frame: `event: changed\ndata: ${JSON.stringify(signal)}\n\n`,
})

/** Any resource of the type may have changed. */
export const anyChanged = (type: ChangedType): ChangedFrame => frameOf({ type, ids: [], isMore: true })

/** Several replicas signal the same second: what comes within it is one message for each type. */
export function gatherChanges(
  send: ChangesListener,
  timers: Pick<Timers, 'setTimeout' | 'clearTimeout'> = systemTimers,
) {
  let gathered = new Map<ChangedType, ChangedSignal>()
  let timer: Timer | undefined

  const flush = () => {
    timer = undefined
    if (gathered.size === 0) return
    for (const signal of gathered.values()) send(frameOf(signal))
    gathered = new Map()
    timer = timers.setTimeout(flush, everyMs)
    timer.unref()
  }
  const merge = (signal: ChangedSignal) => {
    const { type } = signal
    const ids = new Set([...(gathered.get(type)?.ids ?? []), ...signal.ids])
    const isMore = signal.isMore || gathered.get(type)?.isMore || ids.size > maxChangedIds
    gathered.set(type, { type, ids: [...ids].slice(0, maxChangedIds), ...(isMore && { isMore }) })
  }
  const addAll = (signals: readonly ChangedSignal[]) => {
    for (const signal of signals) merge(signal)
    if (timer === undefined) flush()
  }
  return {
    add: (signal: ChangedSignal) => addAll([signal]),
    /** Signals may have been lost. */
    missed: () => addAll(ChangedType.options.map((type) => ({ type, ids: [], isMore: true }))),
    close: () => timers.clearTimeout(timer),
  }
}
