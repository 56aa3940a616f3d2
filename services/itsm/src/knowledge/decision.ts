import type { KnowledgeEventType } from '@opsplane/contracts'
import type { ArticleState } from './state.js'

export interface ArticleDecision {
  type: KnowledgeEventType
  after: ArticleState | null
  extras?: Record<string, unknown>
}
