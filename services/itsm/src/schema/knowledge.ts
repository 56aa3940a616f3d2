import {
  dueIndexes,
  dueTable,
  leaseColumns,
  readModelTable,
  retryColumns,
  searchColumn,
  searchIndex,
  stateText,
} from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { customType, index, integer, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })
const jsonb = customType<{ data: string }>({ dataType: () => 'jsonb' })
const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** Text column for the search in lists. The column for the knowledge search is `search`. */
const listed = () =>
  searchColumn('list_search', { names: ['number', 'title'], labels: ['tags'], text: ['summary'] })

/** The number in `KB-12`. Sorts numerically and finds an article by its number. */
const digits = () =>
  integer('number_value').generatedAlwaysAs(sql.raw(`substring(state->>'number' from 4)::integer`))

/** Articles scheduled for publication. */
export const dueArticles = dueTable({
  table: 'knowledge_articles',
  key: 'id',
  dueAt: `due_instant(state->>'publishAt', 0)`,
  waiting: `status = 'scheduled'`,
  fairKey: 'workspace_id',
})

/** Chunks without a vector. */
export const dueChunks = dueTable({
  table: 'knowledge_chunks',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'vector is null',
  fairKey: 'workspace_id',
})

/** Articles in their current working state. */
export const knowledgeArticles = readModelTable(
  'knowledge_articles',
  {
    numberValue: digits(),
    status: stateText('status', 'status'),
    category: stateText('category', 'category'),
    language: stateText('language', 'language'),
    updatedAt: stateText('updated_at', 'updatedAt'),
    tags: jsonb('tags').generatedAlwaysAs(sql.raw(`(state->'tags')::jsonb`)),
    listed: listed(),
    ...retryColumns(),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      uniqueIndex('knowledge_articles_number_key').on(workspaceId, table.numberValue),
      index('knowledge_articles_created_idx').on(workspaceId, environment, createdAt, id),
      index('knowledge_articles_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('knowledge_articles_status_idx').on(workspaceId, environment, table.status, createdAt, id),
      index('knowledge_articles_category_idx').on(workspaceId, environment, table.category, createdAt, id),
      index('knowledge_articles_language_idx').on(workspaceId, environment, table.language, createdAt, id),
      // A tag matches few rows, which are sorted afterwards (btree_gin).
      index('knowledge_articles_tag_idx').using('gin', workspaceId, environment, table.tags),
      ...dueIndexes(dueArticles),
      searchIndex('knowledge_articles_listed_idx', workspaceId, table.listed),
    ]
  },
)

export const knowledgeVersions = readModelTable(
  'knowledge_versions',
  {
    articleId: stateText('article_id', 'articleId'),
    articleVersion: integer('article_version').generatedAlwaysAs(
      sql.raw(`(state->>'articleVersion')::integer`),
    ),
    // Searched only within one article, so it needs no index.
    listed: listed(),
  },
  (table) => [
    index('knowledge_versions_article_idx').on(
      ...[table.workspaceId, table.environment, table.articleId],
      ...[table.articleVersion, table.id],
    ),
  ],
)

/** The published version of each article, which readers get and the search uses. */
export const knowledgePublished = readModelTable(
  'knowledge_published',
  {
    number: stateText('number', 'number'),
    numberValue: digits(),
    updatedAt: stateText('updated_at', 'updatedAt'),
    category: stateText('category', 'category'),
    language: stateText('language', 'language'),
    visibility: stateText('visibility', 'visibility'),
    validUntil: stateText('valid_until', 'validUntil'),
    publishedAt: stateText('published_at', 'publishedAt'),
    tags: jsonb('tags').generatedAlwaysAs(sql.raw(`(state->'tags')::jsonb`)),
    codes: jsonb('codes').generatedAlwaysAs(sql.raw(`(state->'codes')::jsonb`)),
    search: tsvector('search').generatedAlwaysAs(
      sql.raw(
        `knowledge_tsvector(state->>'language', state->>'title', coalesce(state->>'summary', '') || ' ' || (state->>'tags'), state->>'body')`,
      ),
    ),
    listed: listed(),
    /** Text for comparing similar words, kept short: title, summary, tags and codes. */
    fuzzy: text('fuzzy').generatedAlwaysAs(
      sql.raw(
        `knowledge_plain((state->>'title') || ' ' || coalesce(state->>'summary', '') || ' ' || (state->>'tags') || ' ' || (state->>'codes'))`,
      ),
    ),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('knowledge_published_created_idx').on(workspaceId, environment, createdAt, id),
      index('knowledge_published_updated_idx').on(workspaceId, environment, table.updatedAt, id),
      index('knowledge_published_number_idx').on(workspaceId, environment, table.numberValue, id),
      index('knowledge_published_category_idx').on(workspaceId, environment, table.category, createdAt, id),
      index('knowledge_published_language_idx').on(workspaceId, environment, table.language, createdAt, id),
      index('knowledge_published_tag_idx').using('gin', workspaceId, environment, table.tags),
      searchIndex('knowledge_published_listed_idx', workspaceId, table.listed),
      // Articles are rarely published and often searched. Without `fastupdate`, searches need not read a pending list.
      index('knowledge_published_search_idx').using('gin', table.search).with({ fastupdate: false }),
      index('knowledge_published_codes_idx').using('gin', table.codes).with({ fastupdate: false }),
      index('knowledge_published_fuzzy_idx')
        .using('gin', table.fuzzy.op('gin_trgm_ops'))
        .with({ fastupdate: false }),
    ]
  },
)

export const knowledgeVotes = readModelTable(
  'knowledge_votes',
  { articleId: stateText('article_id', 'articleId'), helpful: stateText('helpful', 'helpful') },
  (table) => [index('knowledge_votes_article_idx').on(table.workspaceId, table.environment, table.articleId)],
)

/**
 * Chunks of published articles with their vectors, one row per chunk and model. Chunks without a vector are still to be
 * embedded. Built from `knowledge_published` rather than from the log.
 */
export const knowledgeChunks = pgTable(
  'knowledge_chunks',
  {
    /** Composed of article, version, ordinal and model. */
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    environment: text('environment').notNull(),
    articleId: text('article_id').notNull(),
    /** Version of the row in `knowledge_published` that the chunk is from. */
    sourceVersion: integer('source_version').notNull(),
    model: text('model').notNull(),
    content: text('content').notNull(),
    contentHash: text('content_hash').notNull(),
    /** Little-endian float32. */
    vector: bytea('vector'),
    dueAt: timestamp('due_at', { withTimezone: true, mode: 'string' }).notNull(),
    ...leaseColumns(),
  },
  (table) => [
    ...dueIndexes(dueChunks),
    index('knowledge_chunks_article_idx').on(table.articleId, table.model),
    index('knowledge_chunks_tenant_idx').on(table.workspaceId, table.environment, table.model),
  ],
)
