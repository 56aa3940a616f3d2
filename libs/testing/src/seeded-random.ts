/** Factor for the number of cases of a random search, relative to `npm test`: SEARCH_TIMES, 10 in `npm run test:long`. */
export const searchTimes = Number(process.env.SEARCH_TIMES ?? 1)

/** Numbers in [0, 1) that are the same for the same seed (mulberry32), so that a failing run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
