import { decode } from '@jridgewell/sourcemap-codec'

/**
 * Maps each line of a bundle to a line of a source, for our own code: a compact source map that is read in
 * milliseconds.
 */
export interface LineTable {
  sources: string[]
  /**
   * Three numbers per run of lines: its first line in the bundle, its source (-1 for code of packages), the first line
   * in the source.
   */
  runs: number[]
}

/** A source map as esbuild writes it. */
export interface RawMap {
  sources: string[]
  mappings: string
}

const ofPackages = -1

/** Builds the table from a source map. Lines are numbered from 1. */
export function lineTable({ sources, mappings }: RawMap): LineTable {
  const own = sources.map((source) => !source.includes('node_modules/'))
  const runs: number[] = []
  let last = { line: 0, source: ofPackages, sourceLine: 0 }
  decode(mappings).forEach(([segment], at) => {
    const [, of, ofLine] = segment ?? []
    if (of === undefined || ofLine === undefined) return
    const found = { line: at + 1, source: own[of] ? of : ofPackages, sourceLine: own[of] ? ofLine + 1 : 0 }
    const continuesRun =
      found.source === last.source && (!own[of] || found.sourceLine === sourceLineIn(last, found.line))
    if (continuesRun) return
    runs.push(found.line, found.source, found.sourceLine)
    last = found
  })
  return { sources, runs }
}

/** Source and line that a line of the bundle comes from; `undefined` for code of packages. */
export function findSourceLine(
  { sources, runs }: LineTable,
  line: number,
): { source: string; line: number } | undefined {
  let [low, high] = [0, runs.length / 3]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((runs[middle * 3] ?? 0) <= line) low = middle
    else high = middle
  }
  const [start = 0, of = ofPackages, sourceLine = 0] = runs.slice(low * 3, low * 3 + 3)
  const source = sources[of]
  if (source === undefined || line < start) return undefined
  return { source, line: sourceLineIn({ line: start, sourceLine }, line) }
}

const sourceLineIn = (run: { line: number; sourceLine: number }, line: number) =>
  run.sourceLine + line - run.line
