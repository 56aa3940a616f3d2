import type { KnowledgeHit } from '@opsplane/contracts'
import { ArticleVersion } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, inArray, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { knowledgePublished as table } from '../../schema/knowledge.js'
import type { Analysis } from './analysis.js'
import type { Fused } from './fusion.js'
import { markSpaceless, matchEnd, matchStart, toHtml, toPlain } from './highlight.js'
import { relaxedQuery } from './lexical-legs.js'
import { type SearchScope, withinScope } from './scope.js'

const Shown = ArticleVersion.pick({
  ...{ title: true, summary: true, category: true, tags: true, language: true, articleVersion: true },
}).extend({ number: z.string() })

/** Maximum number of characters of a body that are searched for a snippet. */
const maxCharacters = 60_000

/**
 * Returns the results in their API representation, in the order of the fusion. The scope is checked again, because a
 * vector may belong to an article that was just retired.
 */
export async function buildHits(
  db: Drizzle,
  scope: SearchScope,
  analysis: Analysis,
  fused: Fused[],
): Promise<KnowledgeHit[]> {
  if (fused.length === 0) return []
  const body = sql`left(${table.state}->>'body', ${sql.raw(String(maxCharacters))})`
  const tsQuery = relaxedQuery(analysis, scope)
  const rows = await db
    .select({
      id: table.id,
      shown: sql<string>`((${table.state}::jsonb) - 'body' - 'codes')::text`,
      title: headline(sql`${table.state}->>'title'`, tsQuery, analysis, 'HighlightAll=true'),
      body: headline(
        body,
        tsQuery,
        analysis,
        'MaxFragments=2, MaxWords=25, MinWords=12, FragmentDelimiter=" … "',
      ),
    })
    .from(table)
    .where(
      and(
        withinScope(scope),
        inArray(
          table.id,
          fused.map(({ id }) => id),
        ),
      ),
    )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return fused.flatMap(({ id, score, ranks }) => {
    const row = byId.get(id)
    if (!row) return []
    const shown = Shown.parse(JSON.parse(row.shown))
    const shownText = (markedText: string) => toHtml(markSpaceless(markedText, analysis.query))
    const highlights = { title: shownText(row.title), body: shownText(row.body) }
    return [{ id, ...shown, score, ranks, highlights, snippet: toPlain(row.body) }]
  })
}

function headline(text: SQL, tsQuery: SQL, { lexemes }: Analysis, options: string): SQL<string> {
  const clean = sql`translate(${text}, ${matchStart + matchEnd}, '')`
  const all = `StartSel=${matchStart}, StopSel=${matchEnd}, ${options}`
  const query = sql`coalesce(${tsQuery} || ${accented(clean, lexemes)}, ${tsQuery})`
  return sql<string>`ts_headline(${config}, ${clean}, ${query}, ${all})`
}

const config = sql`knowledge_config(${table.language})`

/**
 * tsquery of the words of a text that match the query except for their accents. The search index has no accents, while
 * the shown text does. SQL null if there are none.
 */
function accented(text: SQL, lexemes: string[]): SQL {
  const lexemeArray = sql`array(select jsonb_array_elements_text(${JSON.stringify(lexemes)}::jsonb))`
  const quoted = sql`'''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || ''''`
  return sql`case when octet_length(${text}) = char_length(${text}) then null else (
    select string_agg(${quoted}, ' | ') from unnest(to_tsvector(${config}, ${text})) word (lexeme, positions, weights)
    where octet_length(lexeme) > char_length(lexeme)
      and tsvector_to_array(to_tsvector(${config}, knowledge_plain(lexeme))) && ${lexemeArray}) end::tsquery`
}
