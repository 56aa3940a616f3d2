/** The connections of one replica by what they run: see `Database`. */
interface PoolSizes {
  writes: number
  statements: number
  queries: number
}

/** Each pool has one. */
export const minConnections = 3

/** From so many on, writes get a second connection: two groups of a group commit are in flight at most. */
const secondWriter = 6

/** Divides the connections that one replica may open: the sizes add up to exactly that many. Throws below `minConnections`. */
export function poolSizes(connections: number): PoolSizes {
  if (!Number.isInteger(connections) || connections < minConnections)
    throw new RangeError(`a service needs ${minConnections} connections at least, not ${connections}`)
  const writes = connections < secondWriter ? 1 : 2
  const statements = Math.floor((connections - writes) / 2)
  return { writes, statements, queries: connections - writes - statements }
}
