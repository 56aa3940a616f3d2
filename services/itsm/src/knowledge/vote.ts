import type { ArticleVote, Decider } from '@opsplane/contracts'

export type VoteCommand = { kind: 'vote'; vote: ArticleVote }

export const voteId = (articleId: string, userId: string) => `${articleId}.${userId}`

/** One per article and user, separate from the article, so that a vote does not conflict with an edit. */
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
