import {
  type Article,
  type ArticleVersionStatus,
  type CommandMeta,
  type Helpfulness,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { referencedId } from '../lists/referenced-id.js'
import { article } from './domain.js'
import { articleRowsOf, helpfulnessOf } from './queries.js'
import type { ArticleCommand, ArticleState } from './state.js'
import { knowledgeArticles } from './tables.js'
import { allowedActions } from './transitions.js'
import { articleVote, voteId } from './vote.js'

const nobody: Helpfulness = { helpful: 0, notHelpful: 0 }

/** The articles as the API shows them: with their version, their votes and what can be done to them now. */
export function articleStore({ store, database: { db } }: BackendContext) {
  const aggregate = store.aggregate(article, { present })
  const votes = store.aggregate(articleVote)
  const withVotes = async (shown: Article[], tenant: TenantScope): Promise<Article[]> => {
    const ids = shown.map(({ id }) => id)
    const counts = await helpfulnessOf(db, tenant, ids)
    return shown.map((one) => ({ ...one, helpfulness: counts.get(one.id) ?? nobody }))
  }
  const counted = async (shown: Article, tenant: TenantScope): Promise<Article> => {
    const [one] = await withVotes([shown], tenant)
    return one ?? shown
  }

  return {
    presentRow: aggregate.present,
    withVotes,
    all: async (ids: string[], tenant: TenantScope) =>
      withVotes((await articleRowsOf(db, tenant, ids)).map(aggregate.present), tenant),
    create: aggregate.create,
    get: async (id: string, tenant: TenantScope) => counted(await aggregate.get(id, tenant), tenant),
    handle: (id: string, command: ArticleCommand, meta: CommandMeta) =>
      store.transact(meta, async (unit) => counted(await unit.handle(aggregate, id, command), meta.tenant), {
        turn: id,
      }),
    remove: (id: string, now: string, meta: CommandMeta) =>
      store.transact(meta, async (unit) => {
        await unit.handle(aggregate, id, { kind: 'delete', now })
      }),
    vote: (articleId: string, userId: string, helpful: boolean, meta: CommandMeta) => {
      const id = voteId(articleId, userId)
      const vote = { id, articleId, userId, helpful, createdAt: meta.now }
      return store.transact(
        meta,
        async (unit) => {
          const change = (await unit.find(votes, id)) ? unit.handle : unit.create
          await change(votes, id, { kind: 'vote', vote })
          return { helpful }
        },
        { turn: id },
      )
    },
    /** Paths take an id or a number such as `KB-12`; anything else is an id that does not exist. */
    idOf: (reference: string, tenant: TenantScope): Promise<string> =>
      referencedId(db, { table: knowledgeArticles, prefix: 'KB' }, reference, tenant),
    stateOf: async (id: string, tenant: TenantScope): Promise<ArticleState> => {
      const row = await aggregate.find(id, tenant)
      if (!row) throw notFound()
      return row.state
    },
  }
}
export type ArticleStore = ReturnType<typeof articleStore>

/** Counts of votes are added where an article is read. */
function present(state: ArticleState, version: number): Article {
  const { contributors: _, bodySha256: __, ...shown } = state
  return { ...shown, helpfulness: nobody, version, allowedActions: allowedActions(state) }
}

/** What became of one version of an article. */
export function versionStatus(articleVersion: number, state: ArticleState): ArticleVersionStatus {
  if (articleVersion === state.articleVersion) return state.status
  // What readers had until then was retired; the version begun after it was never published.
  if (state.status === 'retired' && state.publishedAt === null && articleVersion === state.articleVersion - 1)
    return 'retired'
  return articleVersion === state.publishedVersion ? 'published' : 'outdated'
}
