import { type DueContext, dueCommands, toTenant } from '../due-commands.js'
import { dueArticles } from '../schema/knowledge.js'
import { article } from './domain.js'
import type { ArticleState } from './state.js'

/** Publishes scheduled articles once they are due. */
export function scheduledPublishing(ctx: DueContext) {
  const articles = ctx.store.aggregate(article)
  return dueCommands(ctx, {
    name: 'scheduled-publishing',
    of: dueArticles,
    // A batch is one statement that includes the articles' bodies, so it is small.
    batch: 20,
    async perform(unit, rows) {
      for (const { at: now, version, ...row } of rows) {
        // Safe cast: only the decider of articles writes this state.
        const state = row.state as ArticleState
        const options = { tenant: toTenant(row), current: { state, version } }
        await unit.handle(articles, state.id, { kind: 'publish', now }, options)
      }
    },
  })
}
