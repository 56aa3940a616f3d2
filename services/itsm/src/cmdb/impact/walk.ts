export interface Walked<Node> {
  /** Distance of each reached node from the start. */
  depths: Map<Node, number>
  truncated: boolean
  /** Whether the walk stopped because a level was too wide. */
  tooWide: boolean
}

export interface Walk<Node> {
  start: Node
  /** Maximum number of levels. */
  depth: number
  /** Maximum number of nodes, including the start. */
  limit: number
  /** Returns the distinct nodes one step away from the frontier; `null` if they are too many. */
  beyond(frontier: Node[], last: boolean): Promise<Node[] | null>
  idOf(node: Node): string
}

/** Walks outwards level by level until the depth or the limit is reached or no node is left. */
export async function walk<Node>({ start, depth, limit, beyond, idOf }: Walk<Node>): Promise<Walked<Node>> {
  const depths = new Map([[start, 0]])
  let frontier = [start]
  let truncated = false
  for (let level = 1; level <= depth && frontier.length > 0 && !truncated; level++) {
    const found = await beyond(frontier, level === depth)
    if (found === null) return { depths, truncated, tooWide: true }
    const fresh = found.filter((node) => !depths.has(node))
    const room = limit - depths.size
    truncated = fresh.length > room
    frontier = truncated ? firstById(fresh, idOf).slice(0, room) : fresh
    for (const node of frontier) depths.set(node, level)
  }
  return { depths, truncated, tooWide: false }
}

/**
 * Sorts by id, so that truncation does not depend on the query plan. Sorting in Postgres would depend on its
 * collation.
 */
function firstById<Node>(nodes: Node[], idOf: (node: Node) => string): Node[] {
  return nodes
    .map((node) => ({ node, id: idOf(node) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ node }) => node)
}
