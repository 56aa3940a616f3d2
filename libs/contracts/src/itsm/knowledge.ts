import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Moment } from '../core/moment.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'

/** Without the component id of `Actor`: OpenAPI has no nullable references. */
const PublishedBy = z.object(Actor.shape).nullable()

export const articleStatuses = ['draft', 'in_review', 'scheduled', 'published', 'retired'] as const
export const ArticleStatus = z.enum(articleStatuses).meta({ id: 'ArticleStatus' })
export type ArticleStatus = z.infer<typeof ArticleStatus>

/** All actions on an article; its status determines which of them apply. */
export const articleActions = [
  'edit',
  'submit',
  'approve',
  'schedule',
  'publish',
  'reject',
  'retire',
  'delete',
] as const
export const ArticleAction = z.enum(articleActions).meta({ id: 'ArticleAction' })
export type ArticleAction = z.infer<typeof ArticleAction>

export const ArticleVisibility = z.enum(['public', 'internal']).meta({
  id: 'ArticleVisibility',
  description:
    '`public`: visible to everyone with `knowledge:read`. `internal`: visible only to users with ' +
    '`knowledge:write`.',
})
export type ArticleVisibility = z.infer<typeof ArticleVisibility>

/** Maximum bytes of a body, in UTF-8. */
export const maxArticleBytes = 256 * 1024

const Reference = z.string().trim().min(1).max(100)
const Body = z
  .string()
  .max(maxArticleBytes)
  .refine(
    (text) => new TextEncoder().encode(text).length <= maxArticleBytes,
    'must have at most 256 KiB in UTF-8',
  )
const At = z.iso.datetime({ precision: 3 })

const contentFields = {
  title: z.string().trim().min(1).max(200).meta({ example: 'VPN does not connect from home' }),
  summary: z
    .string()
    .trim()
    .max(1_000)
    .nullable()
    .meta({ description: 'Purpose of the article in one sentence.' }),
  tags: z
    .array(z.string().trim().min(1).max(50))
    .max(50)
    .overwrite((tags) => [...new Set(tags)])
    .meta({ description: 'Tags of the article. Duplicates are removed.', example: ['vpn'] }),
  category: Reference.nullable().meta({ example: 'network' }),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, 'must be a language code of two letters')
    .meta({ description: 'ISO 639-1 language code. Determines how the text is searched.', example: 'en' }),
  visibility: ArticleVisibility,
  validUntil: Moment.nullable().meta({
    description: 'Time from which the article is no longer found in search or shown to readers.',
  }),
  sourceIncidentId: Reference.nullable().meta({ description: 'Incident from which the article originates.' }),
  sourceProblemId: Reference.nullable().meta({ description: 'Problem from which the article originates.' }),
}

/** An article as contained in events. */
export const ArticleEventState = z.object({
  id: idSchema('article'),
  number: z.string().meta({
    description: 'Number of the article, unique in the workspace and increasing.',
    example: 'KB-12',
  }),
  ...contentFields,
  validUntil: At.nullable(),
  body: z.string().meta({ description: 'Text of the article in Markdown.' }),
  status: ArticleStatus,
  articleVersion: z.int().min(1).meta({
    description: 'Number of the version in progress, or of the latest version if none is in progress.',
  }),
  publishedVersion: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Number of the version that readers see.' }),
  rejectionReason: z.string().nullable(),
  // Absent in states stored before this field was introduced.
  publishAt: At.nullable().default(null).meta({
    description: 'Time at which the scheduled version is published automatically.',
  }),
  author: Actor.meta({ description: 'Actor that started the version in `articleVersion`.' }),
  publishedAt: At.nullable(),
  publishedBy: PublishedBy,
  retiredAt: At.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type ArticleEventState = z.infer<typeof ArticleEventState>

export const Helpfulness = z.object({ helpful: z.int().min(0), notHelpful: z.int().min(0) })
export type Helpfulness = z.infer<typeof Helpfulness>

export const Article = ArticleEventState.extend({
  helpfulness: Helpfulness,
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    ArticleAction,
    requireForAll(articleActions, 'knowledge:write'),
    'the present status',
  ),
}).meta({ id: 'Article' })
export type Article = z.infer<typeof Article>

export const ArticleVersionStatus = z
  .enum(['draft', 'in_review', 'scheduled', 'published', 'outdated', 'retired'])
  .meta({ id: 'ArticleVersionStatus' })
export type ArticleVersionStatus = z.infer<typeof ArticleVersionStatus>

export const ArticleVersion = z
  .object({
    articleId: idSchema('article'),
    articleVersion: z.int().min(1),
    status: ArticleVersionStatus,
    ...contentFields,
    validUntil: At.nullable(),
    body: z.string(),
    author: Actor,
    publishedAt: At.nullable(),
    publishedBy: PublishedBy,
    updatedAt: At,
  })
  .meta({ id: 'ArticleVersion' })
export type ArticleVersion = z.infer<typeof ArticleVersion>

export const NewArticle = z
  .strictObject({
    ...contentFields,
    body: Body,
    summary: contentFields.summary.default(null),
    tags: contentFields.tags.default([]),
    category: contentFields.category.default(null),
    language: contentFields.language.default('en'),
    visibility: ArticleVisibility.default('public'),
    validUntil: contentFields.validUntil.default(null),
    sourceIncidentId: contentFields.sourceIncidentId.default(null),
    sourceProblemId: contentFields.sourceProblemId.default(null),
  })
  .meta({
    id: 'NewArticle',
    example: {
      title: 'The VPN does not connect',
      body: 'Check the network first. Then sign in to the VPN client again.',
      tags: ['vpn'],
    },
  })
export type NewArticle = z.infer<typeof NewArticle>

export const ArticlePatch = z
  .strictObject({ ...contentFields, body: Body })
  .partial()
  .meta({ id: 'ArticlePatch', example: { summary: 'What to try when the VPN does not connect.' } })
export type ArticlePatch = z.infer<typeof ArticlePatch>

export const ScheduleArticle = z
  .strictObject({
    publishAt: Moment.meta({
      description: 'Time of publication. Must be in the future and before `validUntil`.',
    }),
  })
  .meta({ id: 'ScheduleArticle', example: { publishAt: '2099-12-01T08:00:00+01:00' } })

export const RejectArticle = z
  .strictObject({ reason: z.string().trim().min(1).max(2_000) })
  .meta({ id: 'RejectArticle', example: { reason: 'The second step is out of date.' } })

export const ArticleFeedback = z.strictObject({ helpful: z.boolean() }).meta({
  id: 'ArticleFeedback',
  example: { helpful: true },
})

/** One person's vote on one article; only their last vote counts. */
export const ArticleVote = z.object({
  id: z.string(),
  articleId: idSchema('article'),
  userId: z.string(),
  helpful: z.boolean(),
  createdAt: At,
})
export type ArticleVote = z.infer<typeof ArticleVote>

export const SearchMode = z.enum(['lexical', 'hybrid']).meta({
  id: 'SearchMode',
  description:
    '`hybrid`: searches by words and by meaning, with vectors of the embeddings endpoint. `lexical`: searches by ' +
    'words only.',
})
export type SearchMode = z.infer<typeof SearchMode>

export const KnowledgeSearch = z
  .strictObject({
    query: z.string().trim().min(1).max(500).meta({ example: 'cannot reach the office network from home' }),
    limit: z.int().min(1).max(50).default(10),
    filters: z
      .strictObject({ category: Reference, tag: z.string().min(1).max(50), language: contentFields.language })
      .partial()
      .default({}),
    mode: z.enum(['auto', 'lexical', 'hybrid']).default('auto').meta({
      description: '`lexical` searches without vectors; the other modes use vectors if they are available.',
    }),
  })
  .meta({ id: 'KnowledgeSearch', example: { query: 'cannot reach the office network from home' } })
export type KnowledgeSearch = z.infer<typeof KnowledgeSearch>

const Rank = z.int().min(1).nullable()

export const KnowledgeHit = z
  .object({
    id: idSchema('article'),
    number: z.string(),
    title: z.string(),
    summary: z.string().nullable(),
    category: z.string().nullable(),
    tags: z.array(z.string()),
    language: z.string(),
    articleVersion: z.int().min(1),
    score: z.number(),
    ranks: z.object({ exact: Rank, text: Rank, trigram: Rank, vector: Rank }).meta({
      description:
        'Rank of the article in each of the combined result lists; `null` if the list does not contain it.',
    }),
    highlights: z.object({ title: z.string(), body: z.string() }).meta({
      description: 'HTML in which only `<mark>` is markup; everything else is escaped.',
    }),
    snippet: z.string().meta({ description: 'Plain-text excerpt around the first match.' }),
  })
  .meta({ id: 'KnowledgeHit' })
export type KnowledgeHit = z.infer<typeof KnowledgeHit>

export const KnowledgeResults = z
  .object({
    results: z.array(KnowledgeHit),
    searchMode: SearchMode,
    degraded: z
      .string()
      .nullable()
      .meta({
        description:
          'Reason why the articles were not searched by meaning, such as `embeddings_not_configured` or ' +
          '`embeddings_timeout`.',
      }),
  })
  .meta({ id: 'KnowledgeResults' })
export type KnowledgeResults = z.infer<typeof KnowledgeResults>

const articleEvent = <Extras extends z.ZodRawShape = Record<never, never>>(
  description: string,
  extras?: Extras,
) => resourceEvent(ArticleEventState, description, extras)

export const knowledgeEvents = {
  'article.created': articleEvent('An article was begun.'),
  'article.updated': articleEvent('The draft changed, or a new version was begun.'),
  'article.submitted': articleEvent('A draft waits for its review.'),
  'article.scheduled': articleEvent('A version was approved, and will be published by itself.', {
    publishAt: At,
  }),
  'article.published': articleEvent('A version was approved, and readers get it from now on.'),
  'article.rejected': articleEvent('A review sent the article back to its author.', { reason: z.string() }),
  'article.outdated': articleEvent('A published version was replaced by a newer one.', {
    outdatedVersion: z.int().min(1),
  }),
  'article.retired': articleEvent('Readers no longer get the article.'),
  'article.deleted': articleEvent('A draft that was never published was deleted.', {
    articleId: idSchema('article'),
  }),
  'article.feedback_given': resourceEvent(ArticleVote, 'A reader rated whether an article helped.'),
} satisfies Record<string, EventDefinition>
export type KnowledgeEventType = keyof typeof knowledgeEvents
