import { type DueContext, dueCommands, toTenant } from '../due-commands.js'
import { dueArticles } from '../schema/knowledge.js'
import { article } from './domain.js'
import type { ArticleState } from './state.js'

/** Publishes what was scheduled once its moment has come. */
export function scheduledPublishing(ctx: DueContext) {
  const articles = ctx.store.aggregate(article)
  return dueCommands(ctx, {
    name: 'scheduled-publishing',
    of: dueArticles,
    // With their bodies they make one statement.
    batch: 20,
    async perform(unit, rows) {
      for (const { at: now, version, ...row } of rows) {
        // Written by the decider of articles alone.
        const state = row.state as ArticleState
        const options = { tenant: toTenant(row), current: { state, version } }
        await unit.handle(articles, state.id, { kind: 'publish', now }, options)
      }
    },
  })
}
