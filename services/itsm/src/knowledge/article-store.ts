import type {
  Article,
  ArticleVersionStatus,
  CommandMeta,
  Helpfulness,
  Instant,
  TenantScope,
} from '@opsplane/contracts'
import { readRowsAt } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { findReferencedId } from '../lists/referenced-id.js'
import { knowledgeArticles } from '../schema/knowledge.js'
import { article } from './domain.js'
import { countVotes, readArticleRows } from './queries.js'
import type { ArticleCommand, ArticleState } from './state.js'
import { allowedActions } from './transitions.js'
import { articleVote, voteId } from './vote.js'

const noVotes: Helpfulness = { helpful: 0, notHelpful: 0 }

/** Articles in their API representation: with their version, their votes and the actions allowed now. */
export function articleStore({ store, database: { db } }: ServiceContext) {
  const aggregate = store.aggregate(article, { present })
  const votes = store.aggregate(articleVote)
  const withVotes = async (shown: Article[], tenant: TenantScope, asOf?: Instant): Promise<Article[]> => {
    const ids = shown.map(({ id }) => id)
    const counts = await countVotes(db, tenant, ids, asOf)
    return shown.map((one) => ({ ...one, helpfulness: counts.get(one.id) ?? noVotes }))
  }
  const withHelpfulness = async (shown: Article, tenant: TenantScope, asOf?: Instant): Promise<Article> => {
    const [one] = await withVotes([shown], tenant, asOf)
    return one ?? shown
  }

  return {
    presentRow: aggregate.present,
    withVotes,
    all: async (ids: string[], tenant: TenantScope, asOf?: Instant) => {
      const rows =
        asOf === undefined
          ? await readArticleRows(db, tenant, ids)
          : await readRowsAt(db, { table: knowledgeArticles, tenant, asOf, ids })
      return withVotes(rows.map(aggregate.present), tenant, asOf)
    },
    create: aggregate.create,
    asOf: async (id: string, tenant: TenantScope, asOf: Instant | undefined) =>
      withHelpfulness(await aggregate.asOf(id, tenant, asOf), tenant, asOf),
    /**
     * Returns the fields that the statuses of the article's versions depend on. Throws not_found if the article does
     * not exist, or did not exist at `asOf`.
     */
    getVersionInfo: (
      id: string,
      tenant: TenantScope,
      asOf: Instant | undefined,
    ): Promise<ArticleVersionInfo> => aggregate.asOf(id, tenant, asOf),
    handle: (id: string, command: ArticleCommand, meta: CommandMeta) =>
      store.transact(
        meta,
        async (unit) => withHelpfulness(await unit.handle(aggregate, id, command), meta.tenant),
        {
          queueKey: id,
        },
      ),
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
        { queueKey: id },
      )
    },
    /** Resolves an id or a number such as `KB-12`. Anything else is treated as an id that does not exist. */
    findId: (reference: string, tenant: TenantScope): Promise<string> =>
      findReferencedId(db, { table: knowledgeArticles, prefix: 'KB' }, reference, tenant),
  }
}
export type ArticleStore = ReturnType<typeof articleStore>

/** Vote counts are added when an article is read. */
function present(state: ArticleState, version: number): Article {
  const { contributors: _, ...shown } = state
  return { ...shown, helpfulness: noVotes, version, allowedActions: allowedActions(state) }
}

export type ArticleVersionInfo = Pick<
  Article,
  'status' | 'articleVersion' | 'publishedVersion' | 'publishedAt'
>

/** Returns the status of one version of an article. */
export function versionStatus(articleVersion: number, article: ArticleVersionInfo): ArticleVersionStatus {
  if (articleVersion === article.articleVersion) return article.status
  // The version that readers had until then was retired; the version begun after it was never published.
  const neverPublished = article.status === 'retired' && article.publishedAt === null
  if (neverPublished && articleVersion === article.articleVersion - 1) return 'retired'
  return articleVersion === article.publishedVersion ? 'published' : 'outdated'
}
