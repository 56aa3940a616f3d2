/** Seconds in a block of the lowest level: a quarter of an hour. */
export const sliceSeconds = 900
/**
 * Delays in seconds for blocks that have not ended. Aggregating a block reads all its facts, so it waits while they
 * still arrive.
 */
const openDelays = [60, 300]

/**
 * SQL for the instant at which a marked block (alias `block`) is aggregated. It limits how often a changing block is
 * aggregated: larger blocks less often than smaller ones, and open blocks less often than past ones.
 */
export function dueSql(level: number): string {
  const rest = `interval '${5 * 3 ** level} seconds'`
  const open = openDelays[level]
  if (open === undefined) return `now() + ${rest}`
  const end = `to_timestamp((block + 1)::double precision * ${sliceSeconds * 4 ** level})`
  return `now() + case when ${end} > now() then interval '${open} seconds' else ${rest} end`
}
