import { Article, KnowledgeResults, type Principal } from '@opsplane/contracts'
import { createInternalIssuer } from '@opsplane/http'
import { loadRelevanceSet, scoreRelevance } from '@opsplane/itsm/relevance'
import type { Cluster } from '@opsplane/local'
import { request } from 'undici'
import { z } from 'zod'
import type { MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'

/**
 * Measures how well the knowledge search ranks the relevance set, by words alone and with the vectors it computes
 * itself.
 */
export async function measureRelevance({ cluster, say }: Omit<MeasureOptions, 'seconds'>): Promise<Figure[]> {
  const [author, reviewer] = [caller(cluster, 'author'), caller(cluster, 'reviewer')]
  const { articles, queries } = loadRelevanceSet()
  const names = new Map<string, string>()
  say(`Publishing ${articles.length} articles…`)
  for (const { id: name, ...fields } of articles) {
    const { id } = Article.parse(await author('', fields))
    await author(`/${id}/submit`, {})
    await reviewer(`/${id}/approve`, {})
    names.set(id, name)
  }
  const search = (mode: 'lexical' | 'hybrid') =>
    scoreRelevance(queries, async (query) => {
      const { results } = KnowledgeResults.parse(await author('/search', { query, mode }))
      return results.map(({ id }) => names.get(id) ?? id)
    })
  const [lexical, hybrid] = [await search('lexical'), await search('hybrid')]
  const figure = (name: string, score: number, floor: number): Figure => ({
    name,
    value: score.toFixed(3),
    goal: `≥ ${floor.toFixed(3)}`,
    met: score >= floor,
  })
  return [
    figure('knowledge search nDCG@10, lexical', lexical.all, 0.5),
    figure('knowledge search nDCG@10, hybrid', hybrid.all, lexical.all),
    figure('knowledge search nDCG@10, paraphrases, hybrid', hybrid.paraphrase, lexical.paraphrase),
  ]
}

/**
 * One of two users, because articles need an author and an approver; calls the service directly, as the gateway
 * would.
 */
function caller({ services, secrets }: Cluster, name: string) {
  const principal: Principal = {
    actor: { id: `usr_${name}`, name, type: 'user' },
    userId: `usr_${name}`,
    tokenId: `ses_${name}`,
    workspaceId: 'ws_relevance',
    environment: 'production',
    permissions: ['knowledge:read', 'knowledge:write'],
  }
  const issuer = createInternalIssuer({
    service: 'gateway',
    privateKey: secrets.serviceKeys.gateway.privateKey,
  })
  return async (path: string, body: object): Promise<unknown> => {
    const { statusCode, body: answer } = await request(`${services.itsm.url}/knowledge${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${await issuer.clientToken('itsm', principal)}`,
      },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (statusCode >= 300) throw new Error(`/knowledge${path} answered ${statusCode}: ${text}`)
    return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data
  }
}
