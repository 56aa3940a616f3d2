import { splitIntoChunks } from '../knowledge/embedding/chunks.js'
import { loadRelevanceSet } from './relevance-set.js'

/**
 * Returns all texts that an endpoint has to embed to measure
 * the relevance set. Prints them as JSON when run as a script.
 */
export function modelTexts(): string[] {
  const { articles, queries } = loadRelevanceSet()
  const chunks = articles.flatMap(({ title, body }) => splitIntoChunks({ title, body, summary: null }))
  return [...new Set([...chunks, ...queries.map(({ query }) => query)])]
}

if (import.meta.url === `file://${process.argv[1]}`) process.stdout.write(`${JSON.stringify(modelTexts())}\n`)
