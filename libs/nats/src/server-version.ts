/** The oldest nats-server that the platform supports. */
export const minServerVersion = '2.14.0'

/**
 * Whether a version as printed by nats-server (`2.15.1`, `nats-server: v2.14.0-RC.1`) is supported; an unknown one
 * is not.
 */
export function isSupportedServer(version: string): boolean {
  const found = numbersOf(version)
  const oldest = numbersOf(minServerVersion)
  if (!found || !oldest) return false
  const at = found.findIndex((number, index) => number !== oldest[index])
  return at === -1 || (found[at] ?? 0) > (oldest[at] ?? 0)
}

const numbersOf = (version: string) => /(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number)
