import { type AnalyticsQuery, canonicalJson, type QueryAnswer, type TenantScope } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'

type Answer = Omit<QueryAnswer, 'dataAsOf'>

/**
 * Answers of datasets as long as their data is the same. Whoever may ask at all is answered the same: rights are looked at
 * before, and what row rules bind is never kept. Questions asked at the same time are answered once.
 */
export function createAnswerCache(most: number) {
  const answers = new LRUCache<string, Promise<Answer>>({ max: Math.max(most, 1) })
  return {
    find(
      tenant: TenantScope,
      query: AnalyticsQuery,
      { dataVersion, quarterHour }: { dataVersion: string; quarterHour: number },
      answer: () => Promise<Answer>,
    ): Promise<Answer> {
      if (most === 0) return answer()
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
