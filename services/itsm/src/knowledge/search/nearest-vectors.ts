import type { ArticleVisibility } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import { legDepth } from './lexical-legs.js'
import type { SearchScope } from './scope.js'

/** The fields that a search filters by, stored with each vector. */
export interface VectorOwner {
  id: string
  visibility: ArticleVisibility
  validUntil: string | null
  category: string | null
  language: string
  tags: ReadonlySet<string>
}

/** The columns needed to build an owner. */
export const ownerColumns = {
  id: table.id,
  visibility: table.visibility,
  validUntil: table.validUntil,
  category: table.category,
  language: table.language,
  tags: table.tags,
}
type OwnerRow = Awaited<ReturnType<typeof selectOwners>>[number]
const selectOwners = (db: Drizzle) => db.select(ownerColumns).from(table)

export function toOwner(row: OwnerRow): VectorOwner {
  const tags: unknown = typeof row.tags === 'string' ? JSON.parse(row.tags) : row.tags
  return {
    id: row.id,
    visibility: row.visibility === 'public' ? 'public' : 'internal',
    validUntil: row.validUntil,
    category: row.category,
    language: row.language ?? '',
    tags: new Set(Array.isArray(tags) ? tags.map(String) : []),
  }
}

/** Concatenated unit vectors of one tenant. An owner may have several. */
export interface VectorMatrix {
  dims: number
  owners: readonly VectorOwner[]
  vectors: Float32Array
}

function visible(owner: VectorOwner, { writer, now, filters }: SearchScope): boolean {
  return (
    (writer || owner.visibility === 'public') &&
    (owner.validUntil === null || owner.validUntil > now) &&
    (filters.category === undefined || owner.category === filters.category) &&
    (filters.language === undefined || owner.language === filters.language) &&
    (filters.tag === undefined || owner.tags.has(filters.tag))
  )
}

/**
 * Returns the articles nearest to a unit vector by exact cosine, restricted to the scope. The best chunk of each
 * article counts. `least` is the minimum cosine.
 */
export function findNearest(
  { dims, owners, vectors }: VectorMatrix,
  query: Float32Array,
  scope: SearchScope,
  least: number,
): string[] {
  const best = new Map<string, number>()
  for (const [at, owner] of owners.entries()) {
    if (!visible(owner, scope)) continue
    let cosine = 0
    for (let dim = 0; dim < dims; dim++) cosine += (vectors[at * dims + dim] ?? 0) * (query[dim] ?? 0)
    if (cosine >= least && cosine > (best.get(owner.id) ?? -1)) best.set(owner.id, cosine)
  }
  return [...best]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, legDepth)
    .map(([id]) => id)
}
