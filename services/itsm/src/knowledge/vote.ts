import type { ArticleVote, Decider } from '@opsplane/contracts'

export type VoteCommand = { kind: 'vote'; vote: ArticleVote }

export const voteId = (articleId: string, userId: string) => `${articleId}.${userId}`

/**
 * One vote per article and user. Votes are separate aggregates, so that they do not conflict with edits of the
 * article.
 */
export const articleVote: Decider<ArticleVote, VoteCommand> = {
  resourceType: 'article_vote',
  table: 'knowledge_votes',
  decide: ({ vote }, state) =>
    state?.helpful === vote.helpful
      ? []
      : [
          {
            type: 'article.feedback_given',
            after: { ...vote, createdAt: state?.createdAt ?? vote.createdAt },
          },
        ],
  expose: (state) => state,
  describe: ({ articleId }) => ({ displayName: articleId }),
}
