import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { WorkflowWithDraft } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { hello, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
beforeAll(async () => {
  fixture = await startWorkflows()
})
afterAll(() => fixture?.stop())

// 0.2.0 may run together with this version: it stores the grant in the row of a version, and revocations in another
// table.
it('a version has the same grant in 0.2.0 and in later releases, whichever of them revokes it', async () => {
  const { sql } = fixture.service
  const principal = testPrincipal()
  const api = fixture.service.as(principal)
  const { id } = (await api.post('/workflows', { name: 'Both', definition: hello })).data(WorkflowWithDraft)
  expect((await api.post(`/workflows/${id}/publish`, {})).status).toBe(200)
  const version = `${id}.1`
  const [kept] = await sql`select state->>'grant' as grant from workflow_versions where id = ${version}`
  const rows = async () => [
    ...(await sql`
      select state->>'grant' as grant, state->>'userId' as "userId" from version_grants where version_id = ${version}`),
  ]
  const revoked = async () =>
    (await sql`select from revoked_versions where version_id = ${version}`).length > 0
  const given = [{ grant: kept?.grant, userId: principal.userId }]
  expect(await rows()).toEqual(given)

  await sql`insert into revoked_versions values (${version})`
  expect(await rows()).toEqual([])
  await sql`delete from revoked_versions where version_id = ${version}`
  expect(await rows()).toEqual(given)
  await sql`delete from version_grants where version_id = ${version}`
  expect(await revoked()).toBe(true)
  expect(await rows()).toEqual([])
})
