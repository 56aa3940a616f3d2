import { splitIntoChunks } from '../knowledge/embedding/chunks.js'
import { loadRelevanceSet } from './relevance-set.js'

/** Everything an endpoint is asked to embed when the set is measured. Run by itself it prints them as JSON. */
export function modelTexts(): string[] {
  const { articles, queries } = loadRelevanceSet()
  const chunks = articles.flatMap(({ title, body }) => splitIntoChunks({ title, body, summary: null }))
  return [...new Set([...chunks, ...queries.map(({ query }) => query)])]
}

if (import.meta.url === `file://${process.argv[1]}`) process.stdout.write(`${JSON.stringify(modelTexts())}\n`)
