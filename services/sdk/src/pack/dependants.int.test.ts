import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Artifact, KnownArtifacts, newId, Pack, PackCheck, ScheduledJob } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { buildPack, type PacksFixture, startPacks } from '../fixture/packs-fixture.js'

/** Behavior of packs whose artifacts are in use. */

let packs: PacksFixture
beforeAll(async () => {
  packs = await startPacks()
})
afterAll(() => packs?.stop())

/** A separate workspace, so that tests share nothing. */
const inWorkspace = () => packs.service.as(testPrincipal())
const install = async (api: ApiClient, body: object) =>
  (await api.post('/sdk/packs/install', body)).data(Pack)
const slugs = async (api: ApiClient) =>
  (await api.get('/sdk/artifacts?sort=slug')).page(Artifact).items.map(({ slug }) => slug)

describe('an artifact used by a workflow', () => {
  const use = { artifact: 'wave', kind: 'workflow' as const, id: newId('workflow'), name: 'Welcome' }
  const more = [{ slug: 'wave', kind: 'workflow_action' as const, source: 'src/greet.ts' }]
  const inUse = { code: 'conflict', details: [{ code: 'in_use', params: use }] }
  beforeAll(() => void packs.uses.push(use))
  afterAll(() => void packs.uses.splice(0))

  it('is not removed by an upgrade unless forced, and a check reports its use', async () => {
    const api = inWorkspace()
    await install(api, buildPack('1.0.0', { more }))
    const without = buildPack('1.1.0')
    expect((await api.post('/sdk/packs/check', without)).data(PackCheck).breaks).toEqual([use])
    expect((await api.post('/sdk/packs/install', without)).error()).toMatchObject(inUse)
    expect(await slugs(api)).toEqual(['greet', 'wave'])
    await install(api, { ...without, force: true })
    expect(await slugs(api)).toEqual(['greet'])
  })

  it('is found by its slug, unless it was removed or belongs to another workspace', async () => {
    const principal = testPrincipal()
    const api = packs.service.as(principal)
    const { id } = await install(api, buildPack('1.0.0', { more }))
    const known = async (workspaceId = principal.workspaceId) => {
      const question = { workspaceId, environment: 'production', names: ['wave', 'absent'] }
      const answer = await packs.service.asService('workflows').post('/internal/artifacts/needs', question)
      return answer.data(KnownArtifacts).artifacts
    }
    const wave = { name: 'wave', permissions: [] }
    expect([await known(), await known(newId('workspace'))]).toEqual([[wave], []])
    await api.send('DELETE', `/sdk/packs/${id}?force=true`)
    expect(await known()).toEqual([])
  })

  it('is not uninstalled unless forced', async () => {
    const api = inWorkspace()
    const { id } = await install(api, buildPack('1.0.0', { more }))
    expect((await api.send('DELETE', `/sdk/packs/${id}`)).error()).toMatchObject(inUse)
    expect((await api.send('DELETE', `/sdk/packs/${id}?force=true`)).status).toBe(204)
  })
})

describe('an artifact used by a scheduled job', () => {
  it('is not removed by an upgrade, a rollback or uninstalling before the job is deleted', async () => {
    const api = inWorkspace()
    const more = [{ slug: 'nightly', kind: 'scheduled' as const, source: 'src/greet.ts' }]
    const { id: packId } = await install(api, buildPack('1.0.0'))
    await install(api, buildPack('1.1.0', { more }))
    const body = {
      name: 'Nightly',
      artifact: 'nightly',
      input: { name: 'Ada' },
      schedule: { cron: '0 2 * * *' },
    }
    const job = (await api.post('/sdk/scheduled-jobs', body)).data(ScheduledJob)
    const use = { artifact: 'nightly', kind: 'scheduled_job', id: job.id, name: 'Nightly' }
    const inUse = { code: 'conflict', details: [{ code: 'in_use', params: use }] }

    expect((await api.post('/sdk/packs/check', buildPack('1.2.0'))).data(PackCheck).breaks).toEqual([use])
    const refused = [
      await api.post('/sdk/packs/install', buildPack('1.2.0')),
      await api.post(`/sdk/packs/${packId}/rollback`, { to: '1.0.0' }),
      await api.send('DELETE', '/sdk/packs/greetings'),
    ]
    for (const answer of refused) expect(answer.error()).toMatchObject(inUse)
    expect(await slugs(api)).toEqual(['greet', 'nightly'])
    await api.send('DELETE', `/sdk/scheduled-jobs/${job.id}`)
    expect((await api.post(`/sdk/packs/${packId}/rollback`, { to: '1.0.0' })).data(Pack).packVersion).toBe(
      '1.0.0',
    )
    expect(await slugs(api)).toEqual(['greet'])
  })
})
