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
  /** `paraphrase`: the query has no word in common with the article it asks for. */
  kind: z.enum(queryKinds),
  /** Grade of each article: 3 is the expected one, 2 is good, 1 is of some use. */
  relevant: z.record(z.string(), z.int().min(1).max(3)),
})
export type SetQuery = z.infer<typeof SetQuery>

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../relevance/${name}`, import.meta.url), 'utf8'))

/** Loads articles and queries with graded answers for measuring the search. */
export function loadRelevanceSet(): { articles: SetArticle[]; queries: SetQuery[] } {
  return {
    articles: z.array(SetArticle).parse(read('articles.json')),
    queries: z.array(SetQuery).parse(read('queries.json')),
  }
}

/** Normalized discounted cumulative gain of the first ten results: 1 is the best possible order. */
export function ndcgAt10(ids: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const gain = (grades: readonly number[]) =>
    grades.slice(0, 10).reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)
  const ideal = gain(Object.values(relevant).sort((a, b) => b - a))
  return ideal === 0 ? 0 : gain(ids.map((id) => relevant[id] ?? 0)) / ideal
}

export type Scores = Record<'all' | SetQuery['kind'], number>

/** Returns the mean over all queries and over each kind. `search` returns ids of the set, the best first. */
export async function scoreRelevance(
  queries: readonly SetQuery[],
  search: (query: string) => Promise<string[]>,
): Promise<Scores> {
  const measured: { kind: SetQuery['kind']; score: number }[] = []
  for (const { query, kind, relevant } of queries)
    measured.push({ kind, score: ndcgAt10(await search(query), relevant) })
  const mean = (scores: typeof measured) =>
    scores.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scores.length)
  const of = (queryKind: SetQuery['kind']) => mean(measured.filter(({ kind }) => kind === queryKind))
  return {
    all: mean(measured),
    identifier: of('identifier'),
    keywords: of('keywords'),
    question: of('question'),
    typo: of('typo'),
    paraphrase: of('paraphrase'),
  }
}
