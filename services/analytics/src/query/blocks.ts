import { sliceSeconds } from '../fact/block-schedule.js'

/** Rollups are stored for blocks of 4^level quarter hours, counted from 1970. */
export const sliceMs = sliceSeconds * 1_000
export const topLevel = 7
const perBlock = 4

export interface Block {
  level: number
  block: number
}

/** Consecutive blocks of one level. */
export interface BlockRun {
  level: number
  first: number
  last: number
}

/** Unix milliseconds; the end is exclusive. */
export interface TimeSpan {
  from: number
  to: number
}

/** The sources of a query: rollups of blocks, and facts for the rest. */
export interface Cover {
  runs: BlockRun[]
  spans: TimeSpan[]
}

const countSlices = (level: number) => perBlock ** level
const blockName = (level: number, block: number) => `${level}/${block}`

/** Names of the marked blocks and all blocks that contain them; none of them may be read. */
export function staleBlocks(marks: readonly Block[]): ReadonlySet<string> {
  const stale = new Set<string>()
  for (const { level, block } of marks)
    for (let above = level; above <= topLevel; above++)
      stale.add(blockName(above, Math.floor(block / countSlices(above - level))))
  return stale
}

/**
 * Covers each span with the largest up-to-date blocks it contains, and the remainder with facts. Blocks below level
 * `lowest` do not exist.
 */
export function computeCover(spans: readonly TimeSpan[], stale: ReadonlySet<string>, lowest: number): Cover {
  const blocks: Block[] = []
  const left: TimeSpan[] = []
  const addBlock = (level: number, block: number) => {
    if (level >= lowest && !stale.has(blockName(level, block))) blocks.push({ level, block })
    else if (level <= lowest) {
      const length = countSlices(level) * sliceMs
      left.push({ from: block * length, to: (block + 1) * length })
    } else for (let part = 0; part < perBlock; part++) addBlock(level - 1, block * perBlock + part)
  }
  for (const { from, to } of spans) {
    const [first, last] = [Math.ceil(from / sliceMs), Math.floor(to / sliceMs)]
    if (first >= last) {
      left.push({ from, to })
      continue
    }
    left.push({ from, to: first * sliceMs })
    for (let slice = first; slice < last; ) {
      const level = findLargestLevel(slice, last)
      addBlock(level, slice / countSlices(level))
      slice += countSlices(level)
    }
    left.push({ from: last * sliceMs, to })
  }
  return { runs: joinRuns(blocks), spans: joinSpans(left) }
}

function findLargestLevel(slice: number, end: number): number {
  let level = 0
  while (level < topLevel && slice % countSlices(level + 1) === 0 && slice + countSlices(level + 1) <= end)
    level++
  return level
}

function joinRuns(blocks: Block[]): BlockRun[] {
  const runs: BlockRun[] = []
  for (const { level, block } of blocks.sort((a, b) => a.level - b.level || a.block - b.block)) {
    const last = runs.at(-1)
    if (last && last.level === level && last.last + 1 === block) last.last = block
    else runs.push({ level, first: block, last: block })
  }
  return runs
}

function joinSpans(spans: TimeSpan[]): TimeSpan[] {
  const joined: TimeSpan[] = []
  for (const span of spans.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && last.to === span.from) last.to = span.to
    else joined.push({ ...span })
  }
  return joined
}
