import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { DelegationRequest, newId, type Permission, ScheduledJob } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { buildPack, type PacksFixture, startPacks } from '../fixture/packs-fixture.js'

let packs: PacksFixture
const delegated: DelegationRequest[] = []

const path = '/sdk/scheduled-jobs'
const publishing = {
  ...buildPack('1.0.0', {
    artifact: { permissions: { topics: ['greetings'] }, source: 'src/publish.ts' },
  }),
  files: {
    'src/publish.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async (_: unknown, host) => {
        await host.publish({ topic: 'greetings', type: 'greeted', payload: {} })
      })`,
  },
  grant: { topics: ['greetings'] },
}
const fields = { name: 'Greets', artifact: 'greet', input: {}, schedule: { cron: '0 2 * * *' } }
const needed: Permission[] = ['sdk:read', 'sdk:write', 'topics:write']

/** Users of a separate workspace, in which another user has installed the pack. */
async function people() {
  const installer = testPrincipal()
  const person = (permissions: Permission[]) => ({
    ...testPrincipal({ permissions }),
    ...{ workspaceId: installer.workspaceId, userId: newId('user') },
  })
  await packs.service.as(installer).post('/sdk/packs/install', publishing)
  return { installer, owner: person(needed), other: person(['sdk:write']) }
}

beforeAll(async () => {
  packs = await startPacks({
    '/internal/delegations': (body) => {
      delegated.push(DelegationRequest.parse(body))
      return { token: 'of-a-test' }
    },
  })
})
afterAll(() => packs?.stop())

describe('the owner of a scheduled job', () => {
  it('is a caller of each of its executions, with their current rights', async () => {
    const { owner } = await people()
    const api = packs.service.as(owner)
    const job = (await api.post(path, { ...fields, schedule: { everySeconds: 1 } })).data(ScheduledJob)
    expect(job.ownerId).toBe(owner.userId)
    const asked = await waitFor(() =>
      delegated.find(({ callers = [] }) => callers.some(({ userId }) => userId === owner.userId)),
    )
    expect(asked.permissions).toBeUndefined()
    expect((await api.send('DELETE', `${path}/${job.id}`)).status).toBe(204)
  })

  it('has it paused when they lose a required right, until a user with the rights resumes it', async () => {
    const { installer, owner, other } = await people()
    const job = (await packs.service.as(owner).post(path, fields)).data(ScheduledJob)
    const present = async () => (await packs.service.as(owner).get(`${path}/${job.id}`)).data(ScheduledJob)
    packs.settings.rights.set(owner.userId, ['sdk:write'])
    await packs.publish('user.role_changed', { workspaceId: owner.workspaceId ?? '', userId: owner.userId })
    const paused = await waitFor(async () => {
      const found = await present()
      return found.status === 'paused' && found.nextRunAt === null ? found : undefined
    })
    expect(paused.suspendedFor).toEqual(['topics:write'])
    const refused = await packs.service.as(other).post(`${path}/${job.id}/resume`)
    expect(refused.error().details).toMatchObject([{ params: { missing: ['topics:write'] } }])
    expect((await present()).status).toBe('paused')
    const resumed = (await packs.service.as(installer).post(`${path}/${job.id}/resume`)).data(ScheduledJob)
    expect(resumed).toMatchObject({ status: 'active', suspendedFor: [], ownerId: installer.userId })
  })
})
