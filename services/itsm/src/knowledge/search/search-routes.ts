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
        'By identifiers and error codes, words, similar spelling and, where the operator has configured an embeddings ' +
        'endpoint, meaning, fused into one list. `searchMode` tells which way was used, `degraded` why not by meaning. `"a phrase"` and `-without` are meant as they are.',
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
