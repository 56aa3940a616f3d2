import { apiMethods } from '@opsplane/contracts'
import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>

/** Returns its input. */
const source = `import { artifact } from '@opsplane/sdk'
export default artifact(async (input: unknown) => ({ input }))`
const files = { 'src/index.ts': source }
const answering = {
  manifest: {
    ...{ format: 'opsplane.pack/1' as const, name: 'answering', version: '1.0.0' },
    artifacts: [
      {
        ...{ slug: 'answering', kind: 'api' as const, source: 'src/index.ts' },
        api: { methods: [...apiMethods], headers: [] },
      },
    ],
  },
  files: { 'src/index.ts': `export default async function answer() { return { body: 'done' } }` },
}

/** Creates packs with an artifact that the examples reference. */
export async function preparePacks(owner: Client) {
  const manifest = (name: string, slug: string, version: string) => ({
    format: 'opsplane.pack/1' as const,
    name,
    version,
    artifacts: [
      {
        ...{ slug, kind: 'scheduled' as const, source: 'src/index.ts' },
        tests: [{ name: 'closes what is stale', input: 1, expect: { output: { input: 1 } } }],
      },
    ],
  })
  const install = async (name: string, slug: string, version: string): Promise<{ id: string }> => {
    const body = { manifest: manifest(name, slug, version), files }
    return { id: (await owner.post('/sdk/packs/install', { body })).data.id }
  }
  const slug = 'close-stale-incidents'
  await install('fuzzed', slug, '1.1.0')
  const pack = await install('fuzzed', slug, '1.2.0')
  await owner.post('/sdk/packs/install', { body: answering })
  const artifact = async (id = slug): Promise<Path> => ({
    id: (await owner.get('/sdk/artifacts/{id}', { params: { path: { id } } })).data.id,
  })

  return {
    prepared: {
      '/sdk/packs/{id}/rollback': async () => pack,
      '/sdk/packs/{id}/promote': async () => pack,
      '/sdk/packs/{id}': () => install('passing', 'passing', '1.0.0'),
      '/sdk/artifacts/{id}/versions/{number}': async () => ({ ...(await artifact()), number: '1' }),
      '/sdk/artifacts/{id}/api/{path}': async () => ({ ...(await artifact('answering')), path: 'orders' }),
      '/sdk/artifacts/{id}': () => artifact(),
      '/origin/api/service-sdk/executions/{id}': async () => {
        const params = { path: { id: slug } }
        const { data } = await owner.post('/sdk/artifacts/{id}/invoke', { params, body: { input: 1 } })
        return { id: data.id }
      },
      '/origin/api/service-sdk/artifacts/{id}': () => artifact(),
    } satisfies Record<string, () => Promise<Path>>,
  }
}
