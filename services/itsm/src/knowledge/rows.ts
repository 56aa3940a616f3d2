import type { KnowledgeEventType, ReadModelRow } from '@opsplane/contracts'
import type { Past } from '@opsplane/eventstore'
import { findCodes } from './codes.js'
import type { ArticleDecision } from './decision.js'
import type { ArticleState } from './state.js'

export const versionRowId = (articleId: string, articleVersion: number) => `${articleId}.${articleVersion}`

const article = 'knowledge_articles'
const versionEvents: KnowledgeEventType[] = [
  'article.created',
  'article.updated',
  'article.submitted',
  'article.scheduled',
  'article.rejected',
  'article.published',
  'article.outdated',
]
/** The events that produce the rows below; used to read them at an instant. */
export const versionsPast: Past = { streamType: article, sets: versionEvents, ends: [] }
export const publishedPast: Past = {
  streamType: article,
  sets: ['article.published'],
  ends: ['article.retired'],
}

/** Additional rows of an article: its versions, and its published version, which readers get and the search uses. */
export function articleRows({
  type,
  after,
  extras,
}: Omit<ArticleDecision, 'type'> & { type: string }): ReadModelRow[] {
  if (after === null) {
    // Only an article in its first version can be deleted.
    const id = versionRowId(String(extras?.articleId), 1)
    return [{ table: 'knowledge_versions', id, state: null }]
  }
  if (type === 'article.retired') return [{ table: 'knowledge_published', id: after.id, state: null }]
  const rows: ReadModelRow[] = [versionRow(after)]
  if (type === 'article.published') rows.push(publishedRow(after))
  return rows
}

/** Returns the fields of an article that belong to a single version. */
export function content(state: ArticleState) {
  const { id: articleId, number, articleVersion, title, summary, body, tags, category, language } = state
  const { visibility, validUntil, sourceIncidentId, sourceProblemId, author } = state
  const { publishedAt, publishedBy, createdAt, updatedAt } = state
  return {
    ...{ articleId, number, articleVersion, title, summary, body, tags, category, language },
    ...{ visibility, validUntil, sourceIncidentId, sourceProblemId, author },
    ...{ publishedAt, publishedBy, createdAt, updatedAt },
  }
}

function versionRow(state: ArticleState): ReadModelRow {
  const id = versionRowId(state.id, state.articleVersion)
  return { table: 'knowledge_versions', id, state: { id, ...content(state) } }
}

/** Identifiers in the text are extracted here, once, for the exact leg of the search. */
function publishedRow(state: ArticleState): ReadModelRow {
  const { number, sourceIncidentId, sourceProblemId } = state
  const references = [state.id, number, sourceIncidentId, sourceProblemId].filter((id) => id !== null)
  const found = findCodes(`${state.title}\n${state.summary ?? ''}\n${state.body}`)
  const codes = [...new Set([...references.map((id) => id.toLowerCase()), ...found])]
  return { table: 'knowledge_published', id: state.id, state: { id: state.id, ...content(state), codes } }
}
