import type { BackendContext } from '@opsplane/eventstore'
import type { Route } from '@opsplane/http'
import { articleActionRoutes } from './action-routes.js'
import { articleStore } from './article-store.js'
import { articleReading } from './reading.js'
import { articleRoutes } from './routes.js'

/** Everything below /knowledge. */
export function knowledgeRoutes(ctx: BackendContext): Route[] {
  const articles = articleStore(ctx)
  const reading = articleReading(ctx, articles)
  return [...articleRoutes(ctx, articles, reading), ...articleActionRoutes(articles, reading)]
}
