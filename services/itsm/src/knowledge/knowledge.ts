import { createOutbound } from '@opsplane/http'
import type { ServiceContext, ServiceParts } from '@opsplane/service'
import type { ItsmConfig } from '../config.js'
import type { SettingsStore } from '../settings/settings-store.js'
import { articleActionRoutes } from './action-routes.js'
import { articleStore } from './article-store.js'
import { createBreaker } from './embedding/breaker.js'
import { embeddedModel } from './embedding/embedded-model.js'
import { openAiEmbedder } from './embedding/embedder.js'
import { embeddingIndexes } from './embedding/embedding-index.js'
import { embeddingWork } from './embedding/embedding-work.js'
import { articleReading } from './reading.js'
import { articleRoutes } from './routes.js'
import { scheduledPublishing } from './scheduled-publishing.js'
import { knowledgeSearch } from './search/search.js'
import { searchRoutes } from './search/search-routes.js'
import { searchTimeouts } from './search/timeouts.js'
import { vectorLeg } from './search/vector-leg.js'
import { versionRoutes } from './version-routes.js'
import { articleVersions } from './versions.js'

type Context = ServiceContext<ItsmConfig>

/** Service parts for everything below /knowledge, including its background work. */
export function createKnowledge(
  ctx: Context,
  settings: SettingsStore,
  timeouts = searchTimeouts,
): ServiceParts {
  const { db } = ctx.database
  const nowMs = () => Date.parse(ctx.clock.now())
  const embedding = createEmbedding(ctx.config)
  const embedder = embedding?.embedder
  const embeddings = embedder
    ? { embedder, indexes: embeddingIndexes(db, embedder.model), breaker: createBreaker(nowMs) }
    : null
  if (embedder) ctx.dueWork.start(embeddingWork({ db, embedder }))
  ctx.dueWork.start(scheduledPublishing(ctx))
  const articles = articleStore(ctx)
  const reading = articleReading(ctx, articles)
  return {
    routes: [
      ...articleRoutes(ctx, articles, reading),
      ...articleActionRoutes(articles, { reading, settings }),
      ...versionRoutes(articles, articleVersions(ctx, articles)),
      ...searchRoutes(knowledgeSearch(db, vectorLeg(embeddings, timeouts))),
    ],
    background: embedding ? [embedding] : [],
  }
}

/** Uses the operator's endpoint if configured. Otherwise the included model, unless that is switched off. */
function createEmbedding(config: ItsmConfig) {
  const { embeddingsUrl: url, embeddingsModel: model, embeddingsApiKey: apiKey } = config
  if (url !== undefined) {
    // The operator configures the address, which may be in the same network and without TLS.
    const outbound = createOutbound({ allowedCidrs: config.embeddingsAllowedCidrs, allowHttp: true })
    return { embedder: openAiEmbedder({ outbound, url, model, apiKey }), close: () => outbound.close() }
  }
  if (!config.embeddingsLocal) return null
  const embedder = embeddedModel()
  return { embedder, close: () => embedder.close() }
}
