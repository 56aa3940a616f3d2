import type { BackendName } from '@opsplane/contracts'
import { startMonths } from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import { type BackgroundWork, openServiceClient, type ServiceContext } from '@opsplane/service'
import type { AnalyticsConfig } from '../config.js'
import { tableOf } from '../dataset/dataset.js'
import { datasets, fedDatasets } from '../dataset/datasets.js'
import { gatherFacts } from './consumer.js'
import { createDataAge, type DataAge } from './data-age.js'
import { createFactNews, type FactNews } from './fact-news.js'
import { feeding, feedWaker } from './feeds.js'
import { rebuilding } from './rebuild.js'
import { createFactWriter } from './write-facts.js'

export interface Facts {
  age: DataAge
  news: FactNews
  background: BackgroundWork[]
}

/** Facts are gathered from now on. */
export function openFacts(ctx: ServiceContext, { feedRestMs }: Pick<AnalyticsConfig, 'feedRestMs'>): Facts {
  const { database, clock, log } = ctx
  const news = createFactNews(ctx)
  const writer = createFactWriter(database, news.changed)
  ctx.dueWork.start(rebuilding(ctx.logs, writer))
  const neighbours = openFeedingServices(ctx)
  const feeds = ctx.dueWork.start(
    feeding({ clientOf: (service) => neighbours.get(service), writer, clock, restMs: feedRestMs }),
  )
  const consumer = gatherFacts(ctx, writer, feedWaker(database, feeds))
  const months = datasets.map((dataset) => startMonths(database.sql, log, `add_${tableOf(dataset)}_month`))
  return {
    age: createDataAge(database, consumer, clock),
    news,
    background: [news, ...neighbours.values(), ...months, consumer],
  }
}

const askTimeoutMs = 30_000

/** Clients of the services that are asked about facts, as far as they are installed. */
function openFeedingServices(ctx: ServiceContext): Map<BackendName, ServiceClient> {
  const services = new Set(fedDatasets.map(({ feed }) => feed.service))
  const installed = [...services].filter((service) => ctx.config.serviceUrls[service] !== undefined)
  return new Map(installed.map((service) => [service, openServiceClient(ctx, service, askTimeoutMs)]))
}
