import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>

/** An app that is deployed as often as the examples speak of, and may be embedded. */
export async function appsOf(owner: Client) {
  const { data: app } = await owner.post('/apps', { body: { slug: 'fuzzed', name: 'Fuzzed' } })
  const path = { id: app.id }
  await owner.post('/apps/{id}/pages', { params: { path }, body: { slug: 'home', title: 'Home' } })
  for (let deployed = 0; deployed < 3; deployed++)
    await owner.post('/apps/{id}/deploy', { params: { path }, body: { embeddable: true } })
  const origins = ['https://portal.example.com']

  return {
    prepared: {
      '/apps/{id}/deployments/{deployment}': async () => ({ ...path, deployment: '1', other: '2' }),
      '/apps/{id}/embed-tokens/{tokenId}': async () => {
        const { data } = await owner.post('/apps/{id}/embed-token', { params: { path }, body: { origins } })
        return { ...path, tokenId: data.id }
      },
      '/apps/{id}/deploy': async () => path,
      '/apps/{id}/rollback': async () => path,
      '/apps/{id}/embed-token': async () => path,
    },
  }
}
