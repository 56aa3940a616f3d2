import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Percent that V8 lets the old part of the heap grow by beyond what was in use; buffers count. By itself it takes several times as much. */
const usualGrowth = 50
const tightGrowth = 20

const letGrow = (percent: number) => setFlagsFromString(`--heap-growing-percent=${percent}`)

/** For the process, before it does anything: garbage of one export is not there any more when the next one begins. See ADR 105. */
export const boundHeap = () => letGrow(usualGrowth)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

/**
 * Collects the young part of the heap, which takes about a millisecond, while nearly all of it is garbage. Rows that are read as text leave large
 * buffers there, which V8 counts as if they were in the old part; rows of values would move there with the page in use. See ADR 111.
 */
export const collectYoung = () => collect({ type: 'minor' })

let underWay = 0

/** Does work that leaves much garbage in the old part of the heap, and has that collected sooner meanwhile. */
export async function withTightHeap<T>(work: () => Promise<T>): Promise<T> {
  if (underWay++ === 0) letGrow(tightGrowth)
  try {
    return await work()
  } finally {
    if (--underWay === 0) letGrow(usualGrowth)
  }
}
