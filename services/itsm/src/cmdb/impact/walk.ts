export interface Walked<Node> {
  /** How far it is to each that was reached. */
  depths: Map<Node, number>
  truncated: boolean
  /** Given up, as a level was too wide. */
  tooWide: boolean
}

export interface Walk<Node> {
  start: Node
  /** Most levels. */
  depth: number
  /** Most nodes, the start among them. */
  limit: number
  /** What is one step away from a level, each once; null where that is too much. */
  beyond(frontier: Node[], last: boolean): Promise<Node[] | null>
  idOf(node: Node): string
}

/** Goes outwards level by level, until the depth or the limit is reached or nothing is left. */
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

/** By id, so that what is cut does not depend on the plan: a sort by Postgres would follow its collation. */
function firstById<Node>(nodes: Node[], idOf: (node: Node) => string): Node[] {
  return nodes
    .map((node) => ({ node, id: idOf(node) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ node }) => node)
}
