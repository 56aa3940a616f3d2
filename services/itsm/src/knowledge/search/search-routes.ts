import { KnowledgeResults, KnowledgeSearch } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { isWriter } from '../reading.js'
import { tag } from '../routes.js'
import type { knowledgeSearch } from './search.js'

export function searchRoutes(search: ReturnType<typeof knowledgeSearch>): Route[] {
  return [
    defineRoute({
      operationId: 'searchKnowledge',
      method: 'post',
      path: '/knowledge/search',
      summary: 'Search published articles',
      description:
        'Searches by identifiers and error codes, words, similar spelling and meaning, and merges the results into ' +
        'one list. Search by meaning requires a model that supports the language; the bundled model supports ' +
        'English. `searchMode` is `hybrid` if meaning was used; otherwise `degraded` contains the reason. `"a ' +
        'phrase"` and `-without` are applied literally.',
      tag,
      scope: 'knowledge:read',
      body: KnowledgeSearch,
      response: KnowledgeResults,
      idempotency: 'none',
      handler: ({ body, meta: { tenant, now, ...meta } }) =>
        search(body, { tenant, now, writer: isWriter(meta), filters: body.filters }),
    }),
  ]
}
