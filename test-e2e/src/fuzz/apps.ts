import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>

/**
 * Creates an app with as many deployments as the examples mention, and one that stays embeddable whatever they
 * deploy.
 */
export async function prepareApps(owner: Client) {
  const deployed = async (slug: string, times: number) => {
    const path = { id: (await owner.post('/apps', { body: { slug, name: slug } })).data.id }
    await owner.post('/apps/{id}/pages', { params: { path }, body: { slug: 'home', title: 'Home' } })
    for (let count = 0; count < times; count++)
      await owner.post('/apps/{id}/deploy', { params: { path }, body: { embeddable: true } })
    return path
  }
  const path = await deployed('fuzzed', 3)
  const embedded = await deployed('embedded', 1)
  const origins = ['https://portal.example.com']

  return {
    prepared: {
      '/apps/{id}/deployments/{deployment}': async () => ({ ...path, deployment: '1', other: '2' }),
      '/apps/{id}/embed-tokens/{tokenId}': async () => {
        const params = { path: embedded }
        const { data } = await owner.post('/apps/{id}/embed-token', { params, body: { origins } })
        return { ...embedded, tokenId: data.id }
      },
      '/apps/{id}/deploy': async () => path,
      '/apps/{id}/rollback': async () => path,
      '/apps/{id}/embed-token': async () => embedded,
      '/apps/{id}/take-over': async () => embedded,
    },
  }
}
