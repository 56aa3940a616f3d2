import { waitFor } from '@opsplane/testing'
import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>

/** Creates an export with a file that can be downloaded. */
export async function prepareAnalytics(owner: Client) {
  const source = { facts: { dataset: 'incidents' } }
  const { data } = await owner.post('/analytics/exports', { body: { name: 'Fuzzed', source } })
  const path = { id: data.id }
  await waitFor(
    async () =>
      (await owner.get('/analytics/exports/{id}', { params: { path } })).data.status === 'completed',
    { intervalMs: 50 },
  )

  return {
    prepared: {
      '/analytics/exports/{id}/download': async () => path,
      '/analytics/exports/{id}/links/{linkId}': async () => {
        const { data } = await owner.get('/analytics/exports/{id}/download', { params: { path } })
        return { ...path, linkId: data.linkId }
      },
      '/analytics/exports/{id}/links': async () => path,
      '/origin/downloads/{token}': async () => {
        const { data } = await owner.get('/analytics/exports/{id}/download', { params: { path } })
        return { token: data.url.split('/').at(-1) ?? '' }
      },
    } satisfies Record<string, () => Promise<Path>>,
  }
}
