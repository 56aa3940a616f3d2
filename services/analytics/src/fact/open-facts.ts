import { startMonths } from '@opsplane/eventstore'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { tableOf } from '../dataset/dataset.js'
import { datasets } from '../dataset/datasets.js'
import { summingUp } from '../rollup/sum-up.js'
import { gatherFacts } from './consumer.js'
import { createDataAge, type DataAge } from './data-age.js'
import { createFactNews, type FactNews } from './fact-news.js'
import { rebuilding } from './rebuild.js'
import { createFactWriter } from './write-facts.js'

export interface Facts {
  age: DataAge
  news: FactNews
  background: BackgroundWork[]
}

/** Facts are gathered from now on. */
export function openFacts(ctx: ServiceContext): Facts {
  const { database, clock, log } = ctx
  const news = createFactNews(ctx)
  const writer = createFactWriter(database, news.changed)
  const consumer = gatherFacts(ctx, writer)
  ctx.dueWork.start(summingUp)
  ctx.dueWork.start(rebuilding(ctx.logs, writer))
  const months = datasets.map((dataset) => startMonths(database.sql, log, `add_${tableOf(dataset)}_month`))
  return {
    age: createDataAge(database, consumer, clock),
    news,
    background: [news, ...months, consumer],
  }
}
