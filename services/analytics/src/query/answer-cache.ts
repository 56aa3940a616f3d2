import { type AnalyticsQuery, canonicalJson, type QueryAnswer, type TenantScope } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'

type Answer = Omit<QueryAnswer, 'dataAsOf'>

/**
 * Caches answers about datasets while their data is unchanged. All permitted callers receive the same answer:
 * permissions are checked beforehand, and data with row rules is never cached. Concurrent equal queries are computed
 * once.
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
