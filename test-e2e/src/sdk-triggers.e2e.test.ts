import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Execution } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { createCliRunner } from './cli.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/** Tests triggers of artifacts other than requests: rules on events, and the command line. */

let platform: SharedPlatform
let api: Api
let atOrigin: Api
let folder: string

interface Data<T> {
  data: T
}
type Page<T> = Data<T[]>

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  atOrigin = apiClient({ ...platform.info, baseUrl: new URL(platform.info.baseUrl).origin })
  folder = mkdtempSync(join(tmpdir(), 'opsplane-pack-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const listed = async (path: string) => {
  const { status, body } = await atOrigin<Page<Execution>>('GET', `/api/service-sdk${path}`)
  expect(status).toBe(200)
  return body.data
}
const create = async (path: string, body: object) => {
  const made = await api<Data<{ id: string }>>('POST', path, { body })
  expect([path, made.status]).toEqual([path, 201])
  return made.body.data.id
}

const reacting = {
  manifest: {
    ...{ format: 'opsplane.pack/1', name: 'reacts', version: '1.0.0' },
    artifacts: [
      {
        ...{ slug: 'copies', kind: 'business_rule', source: 'copies.ts' },
        rule: { events: ['record.created'], filter: { 'data.tableSlug': 'chain' } },
        permissions: { tables: { chain: ['write'] } },
      },
      {
        ...{ slug: 'notes', kind: 'business_rule', source: 'notes.ts' },
        rule: { events: ['record.*', 'incident.*'], filter: { 'data.severity': 'critical' } },
      },
    ],
  },
  files: {
    'copies.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async ({ data }: { data: { id: string } }, host) =>
        (await host.table({ table: 'chain', action: 'create', record: { text: 'after ' + data.id } })).id)`,
    'notes.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async ({ event, data }: { event: string; data: { id: string } }) => [event, data.id])`,
  },
}

test('a rule runs after every kind of change of records and incidents, and a rule that triggers itself stops', async () => {
  const table = (slug: string, name: string) => create('/tables', { slug, columns: [{ name, type: 'text' }] })
  await table('chain', 'text')
  await table('alarms', 'severity')
  await create('/sdk/packs/install', { ...reacting, grant: { tables: { chain: ['write'] } } })

  const first = await create('/tables/chain/records', { text: 'first' })
  const records = async () =>
    (await api<Page<{ id: string; text: string }>>('GET', '/tables/chain/records?limit=200')).body.data
  // Executions at depths 0 to 10, each of which creates another record.
  await waitFor(async () => (await records()).length === 12)

  const critical = { severity: 'critical' }
  const alarm = await create('/tables/alarms/records', critical)
  await api('POST', '/queries/run', {
    body: { sql: `insert into alarms (severity) values ('critical')`, mode: 'write' },
  })
  const incident = await create('/itsm/incidents', { title: 'Down', ...critical })
  const resolved = await api('POST', `/itsm/incidents/${incident}/resolve`, {
    body: { resolutionCode: 'fixed', resolutionNotes: 'Up' },
  })
  const deleted = await api('DELETE', `/tables/alarms/records/${alarm}`)
  expect([resolved.status, deleted.status]).toEqual([200, 204])
  const noted = async () =>
    (await listed('/artifacts/notes/executions?limit=200&success=true')).map(
      ({ output }) => output as [string, string],
    )
  const seen = await waitFor(async () => {
    const found = await noted()
    const of = (type: string) => found.filter(([event]) => event === type).length
    const once = ['incident.created', 'incident.resolved', 'record.deleted']
    return of('record.created') === 2 && once.every((type) => of(type) === 1) && found
  })
  expect(seen).toContainEqual(['record.deleted', alarm])
  expect(seen).toContainEqual(['incident.resolved', incident])
  const [ofAlarm] = await listed(`/artifacts/notes/related-executions?recordId=${alarm}&tableName=alarms`)
  expect(ofAlarm).toMatchObject({ trigger_type: 'webhook', trigger_id: expect.stringMatching(/^evt_/) })

  // Later events in the same log have been handled, so the chain has ended.
  expect(await records()).toHaveLength(12)
  expect(await listed('/artifacts/copies/executions?limit=200')).toHaveLength(11)
  // One execution was triggered by the record, and the previous one created it.
  const second = (await records()).find(({ text }) => text === `after ${first}`)
  expect(await listed(`/artifacts/copies/related-executions?recordId=${second?.id}`)).toHaveLength(2)
})

test('the CLI creates, tests and installs a pack, and lists, follows and replays its executions', async () => {
  const { baseUrl, apiKey, workspace } = platform.info
  const opsplane = createCliRunner({
    OPSPLANE_URL: baseUrl,
    OPSPLANE_API_KEY: apiKey,
    OPSPLANE_WORKSPACE: workspace,
  })
  const pack = join(folder, 'hello-pack')
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await opsplane.run(args)
    expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 0, expect.anything()])
    return stdout
  }
  await said('packs', 'init', pack)
  expect(await said('packs', 'check', pack)).toContain('operations of the API: listIncidents')
  expect(await said('packs', 'test', pack)).toMatch(/^ok/)
  expect((await opsplane.run(['packs', 'install', pack])).code).toBe(1)
  await said('packs', 'install', pack, '--grant')

  const slug = 'hello-pack-hello'
  const invoked = await api<Data<Execution>>('POST', `/sdk/artifacts/${slug}/invoke`, {
    body: { input: { name: 'Ada' } },
  })
  const original = invoked.body.data
  expect(original).toMatchObject({ status: 'completed', output: { text: 'Hello Ada' } })
  const executions = <T>(...args: string[]) => opsplane.json<T>('executions', ...args)
  expect(await executions('list', '--artifact', slug)).toEqual([original])
  expect(await executions('show', original.id)).toEqual(original)
  const tail = opsplane.start(['executions', 'tail', '--artifact', slug, '--limit', '1', '--json'])
  // It shows executions that start after its first query, so the first replays may be missed.
  const replays: Execution[] = []
  let isOver = false
  void tail.exit.then(() => {
    isOver = true
  })
  do replays.push(await executions<Execution>('replay', original.id, '--input', '{"name":"Grace"}'))
  while (!isOver && replays.length < 200)
  expect(replays[0]).toMatchObject({
    replay_of: original.id,
    output: { text: 'Hello Grace' },
    trigger_type: 'manual',
  })
  expect(replays.map(({ id }) => id)).toContain(JSON.parse(tail.stdout()).id)
  expect(await executions('show', original.id)).toEqual(original)
})
