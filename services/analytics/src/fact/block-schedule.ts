/** Seconds of a block of the lowest level, a quarter hour. */
export const sliceSeconds = 900
/** What is made of facts is made of all facts of the block: while those still come, that waits. */
const openDelays = [60, 300]

/**
 * SQL for when a marked block, by the name `block`, is added up: what changes all the time no more often than this, the larger it is
 * the rarer, and what still goes on less often than what is over.
 */
export function dueSql(level: number): string {
  const rest = `interval '${5 * 3 ** level} seconds'`
  const open = openDelays[level]
  if (open === undefined) return `now() + ${rest}`
  const end = `to_timestamp((block + 1)::double precision * ${sliceSeconds * 4 ** level})`
  return `now() + case when ${end} > now() then interval '${open} seconds' else ${rest} end`
}
