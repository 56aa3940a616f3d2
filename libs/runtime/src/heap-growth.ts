import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Percentage by which V8 may let a service's old generation grow beyond what was in use; buffers count. See ADR
 * 114.
 */
const servicePercent = 150
/** V8 decides by itself. */
const unsettled = 0

let usualPercent = unsettled

type Collect = (options?: { type: 'minor' }) => void
let collector: Collect | undefined

/**
 * The gc function is obtained on first use: V8 exposes it only to new contexts, whose creation takes some
 * milliseconds.
 */
function collect(options?: { type: 'minor' }): void {
  if (!collector) {
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as Collect
  }
  collector(options)
}

/** One entry for each piece of work in progress that limits the heap further. */
const growthLimits: number[] = []

const apply = () =>
  setFlagsFromString(
    `--heap-growing-percent=${growthLimits.length > 0 ? Math.min(...growthLimits) : usualPercent}`,
  )

/**
 * For the process of a service, before anything else: configures how often V8 collects the whole heap, at any
 * load, and where it allocates objects.
 */
export function configureHeapGrowth(): void {
  usualPercent = servicePercent
  apply()
  // Otherwise V8 would allocate literals that have survived, like those of a batch in flight, in the old generation
  // from then on, where they retain what they refer to (ADR 116).
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Limits the growth of the old generation to `percent`, for work that leaves much garbage there. Runs a full
 * collection, about 20 ms, because the current limit was determined by the previous one. Returns a function that
 * restores the limit.
 */
export function limitHeapGrowth(percent: number): () => void {
  growthLimits.push(percent)
  apply()
  collect()
  return () => {
    growthLimits.splice(growthLimits.indexOf(percent), 1)
    apply()
  }
}

/** Collects the young generation, which takes about a millisecond if nearly all of it is garbage. */
export const collectYoungHeap = (): void => collect({ type: 'minor' })
