/** The number of connections of one replica, by their use: see `Database`. */
interface PoolSizes {
  writes: number
  statements: number
  queries: number
}

/** One for each pool. */
export const minConnections = 3

/** From this number on, writes get a second connection: group commit has at most two groups in flight. */
const secondWriter = 6

/**
 * Divides the connections that one replica may open; the sizes add up to exactly `connections`. Throws below
 * `minConnections`.
 */
export function poolSizes(connections: number): PoolSizes {
  if (!Number.isInteger(connections) || connections < minConnections)
    throw new RangeError(`a service needs ${minConnections} connections at least, not ${connections}`)
  const writes = connections < secondWriter ? 1 : 2
  const statements = Math.floor((connections - writes) / 2)
  return { writes, statements, queries: connections - writes - statements }
}
