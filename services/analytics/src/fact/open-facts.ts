import type { BackendName } from '@opsplane/contracts'
import { startMonths } from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import { type BackgroundWork, openServiceClient, type ServiceContext } from '@opsplane/service'
import type { AnalyticsConfig } from '../config.js'
import { factTableName } from '../dataset/dataset.js'
import { datasets, fedDatasets } from '../dataset/datasets.js'
import { gatherFacts } from './consumer.js'
import { createDataAge, type DataAge } from './data-age.js'
import { createFactNotifications, type FactNotifications } from './fact-notifications.js'
import { feedWaker, feedWork } from './feeds.js'
import { rebuildWork } from './rebuild.js'
import { createFactWriter } from './write-facts.js'

export interface Facts {
  age: DataAge
  notifications: FactNotifications
  background: BackgroundWork[]
}

/** Starts gathering facts. */
export function openFacts(ctx: ServiceContext, { feedRestMs }: Pick<AnalyticsConfig, 'feedRestMs'>): Facts {
  const { database, clock, log } = ctx
  const notifications = createFactNotifications(ctx)
  const writer = createFactWriter(database, notifications.changed)
  ctx.dueWork.start(rebuildWork(ctx.logs, writer))
  const neighbours = openFeedingServices(ctx)
  const feeds = ctx.dueWork.start(
    feedWork({ findClient: (service) => neighbours.get(service), writer, clock, restMs: feedRestMs }),
  )
  const consumer = gatherFacts(ctx, writer, feedWaker(database, feeds))
  const months = datasets.map((dataset) =>
    startMonths(database.sql, log, `add_${factTableName(dataset)}_month`),
  )
  return {
    age: createDataAge(database, consumer, clock),
    notifications,
    background: [notifications, ...neighbours.values(), ...months, consumer],
  }
}

const requestTimeoutMs = 30_000

/** Clients of the installed services that facts are pulled from. */
function openFeedingServices(ctx: ServiceContext): Map<BackendName, ServiceClient> {
  const services = new Set(fedDatasets.map(({ feed }) => feed.service))
  const installed = [...services].filter((service) => ctx.config.serviceUrls[service] !== undefined)
  return new Map(installed.map((service) => [service, openServiceClient(ctx, service, requestTimeoutMs)]))
}
