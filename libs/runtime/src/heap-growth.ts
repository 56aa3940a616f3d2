import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Percent that V8 lets the old part of the heap of a service grow by beyond what was in use; buffers count. See ADR 114. */
const servicePercent = 150
/** V8 settles it by itself. */
const unsettled = 0

let usualPercent = unsettled

type Collect = (options?: { type: 'minor' }) => void
let collector: Collect | undefined

/** Found with its first use: V8 shows it to new contexts only, which take some milliseconds. */
function collect(options?: { type: 'minor' }): void {
  if (!collector) {
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as Collect
  }
  collector(options)
}

/** One entry for each piece of work in progress that limits the heap further. */
const held: number[] = []

const apply = () =>
  setFlagsFromString(`--heap-growing-percent=${held.length > 0 ? Math.min(...held) : usualPercent}`)

/** For the process of a service, before it does anything: how often V8 collects the whole heap, at whatever load, and where it makes objects. */
export function configureHeapGrowth(): void {
  usualPercent = servicePercent
  apply()
  // Literals that have lived on, as those of a batch in flight do, would be made in the old part from then on, and keep what they refer to (ADR 116).
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * From now on the old part of the heap grows by so many percent at most, for work that leaves much garbage there. Collects the whole heap
 * once, some 20 ms, as what its limit is was settled at the collection before. Returns what gives it its usual room again.
 */
export function limitHeapGrowth(percent: number): () => void {
  held.push(percent)
  apply()
  collect()
  return () => {
    held.splice(held.indexOf(percent), 1)
    apply()
  }
}

/** Collects the young part of the heap, which takes about a millisecond while nearly all of it is garbage. */
export const collectYoungHeap = (): void => collect({ type: 'minor' })
