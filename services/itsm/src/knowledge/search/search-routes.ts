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
        'By identifiers and error codes, words, similar spelling and meaning, fused into one list. Meaning takes a model that ' +
        'knows the language: the one of the package knows English. `searchMode` is `hybrid` where meaning was used, `degraded` has the reason where it was not. `"a phrase"` and `-without` are meant as they are.',
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
