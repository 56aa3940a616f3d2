import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import { findCodes } from '../codes.js'
import { inTenant } from '../queries.js'

/** The wanted part of a query, analysed in the languages of the tenant's articles. */
export interface Analysis {
  query: string
  languages: string[]
  /** Strings that look like an identifier. */
  codes: string[]
  /** Words without stop words, unchanged. */
  words: string[]
  /** Words without stop words, stemmed. */
  lexemes: string[]
}

const Row = z.object({
  languages: z.array(z.string()),
  words: z.array(z.string()),
  lexemes: z.array(z.string()),
})
const Answer = z.array(z.object({ answer: z.string().transform((text) => JSON.parse(text)) })).length(1)

const maxWords = 12

export async function analyse(
  db: Drizzle,
  tenant: TenantScope,
  query: string,
  language: string | undefined,
): Promise<Analysis> {
  const words = query.match(/[\p{L}\p{N}]{4,}/gu)?.slice(0, maxWords) ?? []
  const rows = await db.execute(sql`
    with published as (
      select distinct ${table.language} as language from ${table} where ${inTenant(table, tenant)}
    ), spoken as (
      select language, knowledge_config(language) as config from published
      where language = ${language ?? null}::text or ${language ?? null}::text is null
    ), words as (
      select distinct knowledge_plain(word) as word from jsonb_array_elements_text(${JSON.stringify(words)}::jsonb) word
    ), lexemes as (
      select distinct unnest(tsvector_to_array(to_tsvector(config, knowledge_plain(${query})))) as lexeme from spoken
    )
    select json_build_object(
      'languages', (select coalesce(json_agg(language order by language), '[]') from spoken),
      'words', (select coalesce(json_agg(word order by word), '[]') from words where not exists (
        select 1 from spoken where numnode(plainto_tsquery(config, word)) = 0)),
      'lexemes', (select coalesce(json_agg(lexeme order by lexeme), '[]') from lexemes)
    )::text as answer`)
  const [row] = Answer.parse([...rows])
  return { query, codes: findCodes(query), ...Row.parse(row?.answer) }
}
