import { type AnalyticsQuery, canonicalJson, type QueryAnswer, type TenantScope } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'

type Answer = Omit<QueryAnswer, 'dataAsOf'>

/**
 * Caches answers of datasets while their data is the same. All permitted callers get the same answer: permissions are
 * checked before, and data with row rules is never cached. Concurrent equal queries are answered once.
 */
export function createAnswerCache(maxEntries: number) {
  const answers = new LRUCache<string, Promise<Answer>>({ max: Math.max(maxEntries, 1) })
  return {
    find(
      tenant: TenantScope,
      query: AnalyticsQuery,
      { dataVersion, quarterHour }: { dataVersion: string; quarterHour: number },
      answer: () => Promise<Answer>,
    ): Promise<Answer> {
      if (maxEntries === 0) return answer()
      const { workspaceId, environment } = tenant
      const key = canonicalJson({ workspaceId, environment, query, dataVersion, quarterHour })
      const known = answers.get(key)
      if (known) return known
      const made = answer()
      answers.set(key, made)
      made.catch(() => answers.delete(key))
      return made
    },
  }
}
export type AnswerCache = ReturnType<typeof createAnswerCache>
