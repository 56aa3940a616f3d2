import { Article, type NewArticle, newId, type Principal } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'

/** Two writers and one reader in a separate workspace. */
export function knowledgeTeam(service: SharedService, overrides: Partial<Principal> = {}) {
  const author = testPrincipal(overrides)
  const id = newId('user')
  const reviewer = { ...author, userId: id, actor: { id, name: 'Grace', type: 'user' as const } }
  const readerId = newId('user')
  const reader = {
    ...author,
    userId: readerId,
    actor: { id: readerId, name: 'Tim', type: 'user' as const },
    permissions: ['knowledge:read'],
  }
  const clients = {
    author: service.as(author),
    reviewer: service.as(reviewer),
    reader: service.as(reader),
  }
  return { ...clients, principal: author, readerPrincipal: reader, publish: publisher(clients) }
}

/** Creates an article and publishes it, so that readers and the search find it. */
const publisher =
  ({ author, reviewer }: { author: ApiClient; reviewer: ApiClient }) =>
  async (fields: Partial<NewArticle> & { title: string }): Promise<Article> => {
    const { id } = (await author.post('/knowledge', { body: fields.title, ...fields })).data(Article)
    await author.post(`/knowledge/${id}/submit`)
    return (await reviewer.post(`/knowledge/${id}/approve`)).data(Article)
  }
