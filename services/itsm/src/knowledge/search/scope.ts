import type { Instant, KnowledgeSearch, TenantScope } from '@opsplane/contracts'
import { and, type SQL } from 'drizzle-orm'
import { contentConditions, ofTenant, readable } from '../queries.js'
import { knowledgePublished } from '../tables.js'

/** What one search may find: the caller's tenant, what the caller may see, and what was asked for. */
export interface SearchScope {
  tenant: TenantScope
  writer: boolean
  now: Instant
  filters: KnowledgeSearch['filters']
}

/** Holds in every leg, so that no leg's places are spent on what may not be shown. */
export const within = ({ tenant, writer, now, filters }: SearchScope): SQL | undefined =>
  and(
    ofTenant(knowledgePublished, tenant),
    readable(writer, now),
    ...contentConditions(knowledgePublished, filters),
  )
