import { type ChangedSignal, ChangedType, maxChangedIds } from '@opsplane/contracts'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

/** A notice that resources of a type have changed, serialised once for all readers. */
export interface ChangedFrame {
  type: ChangedType
  /** A server-sent event without an `id`, because it has no position in the log. */
  frame: string
}

/** Must not throw. */
export type ChangesListener = (changed: ChangedFrame) => void

const everyMs = 1_000

const frameOf = (signal: ChangedSignal): ChangedFrame => ({
  type: signal.type,
  frame: `event: changed\ndata: ${JSON.stringify(signal)}\n\n`,
})

/** Signals that any resource of the type may have changed. */
export const anyChanged = (type: ChangedType): ChangedFrame => frameOf({ type, ids: [], isMore: true })

/** Merges the signals of all replicas within a second to one message per type. */
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
    /** To be called if signals may have been lost: reports every type as changed. */
    missed: () => addAll(ChangedType.options.map((type) => ({ type, ids: [], isMore: true }))),
    close: () => timers.clearTimeout(timer),
  }
}
