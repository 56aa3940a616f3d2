import { readFileSync } from 'node:fs'
import { z } from 'zod'

const SetArticle = z.strictObject({
  id: z.string(),
  title: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  body: z.string(),
})
export type SetArticle = z.infer<typeof SetArticle>

export const queryKinds = ['identifier', 'keywords', 'question', 'typo', 'paraphrase'] as const

const SetQuery = z.strictObject({
  query: z.string(),
  /** `paraphrase`: shares no word with the article it asks for. */
  kind: z.enum(queryKinds),
  /** How good an answer each article is: 3 the one, 2 good, 1 of some use. */
  relevant: z.record(z.string(), z.int().min(1).max(3)),
})
export type SetQuery = z.infer<typeof SetQuery>

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../relevance/${name}`, import.meta.url), 'utf8'))

/** Articles and queries with graded answers, to measure the search with. */
export function loadRelevanceSet(): { articles: SetArticle[]; queries: SetQuery[] } {
  return {
    articles: z.array(SetArticle).parse(read('articles.json')),
    queries: z.array(SetQuery).parse(read('queries.json')),
  }
}

/** Normalised discounted cumulative gain of the first ten results: 1 is the best order there could be. */
export function ndcgAt10(ids: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const gain = (grades: readonly number[]) =>
    grades.slice(0, 10).reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)
  const ideal = gain(Object.values(relevant).sort((a, b) => b - a))
  return ideal === 0 ? 0 : gain(ids.map((id) => relevant[id] ?? 0)) / ideal
}

export type Scores = Record<'all' | SetQuery['kind'], number>

/** The mean over all queries and over each kind. `search` answers with ids of the set, the best first. */
export async function scoreRelevance(
  queries: readonly SetQuery[],
  search: (query: string) => Promise<string[]>,
): Promise<Scores> {
  const measured: { kind: SetQuery['kind']; score: number }[] = []
  for (const { query, kind, relevant } of queries)
    measured.push({ kind, score: ndcgAt10(await search(query), relevant) })
  const mean = (scores: typeof measured) =>
    scores.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scores.length)
  const of = (wanted: SetQuery['kind']) => mean(measured.filter(({ kind }) => kind === wanted))
  return {
    all: mean(measured),
    identifier: of('identifier'),
    keywords: of('keywords'),
    question: of('question'),
    typo: of('typo'),
    paraphrase: of('paraphrase'),
  }
}
