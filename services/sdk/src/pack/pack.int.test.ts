import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Artifact,
  ArtifactDetail,
  ArtifactVersion,
  AvailablePack,
  InstalledPack,
  Pack,
  PackCheck,
  permissions,
} from '@opsplane/contracts'
import { computeIntegrity, packTarball } from '@opsplane/pack-format'
import { type ApiClient, recordEvents, testPrincipal, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { buildPack, type PacksFixture, startPacks } from '../fixture/packs-fixture.js'

let packs: PacksFixture
beforeAll(async () => {
  packs = await startPacks()
})
afterAll(() => packs?.stop())

/** A separate workspace, so that tests share nothing. */
const inWorkspace = (overrides: Parameters<typeof testPrincipal>[0] = {}) =>
  packs.service.as(testPrincipal(overrides))
const install = async (api: ApiClient, body: object) =>
  (await api.post('/sdk/packs/install', body)).data(Pack)
const slugs = async (api: ApiClient) =>
  (await api.get('/sdk/artifacts?sort=slug')).page(Artifact).items.map(({ slug }) => slug)

const asking = { http: ['api.example.com'], secrets: ['api_key'], topics: ['greetings'] }

it('warns about declared secrets that cannot be used, and adds the declared hosts to the usable ones', async () => {
  const api = inWorkspace()
  const asks = { http: ['api.example.com'], secrets: ['gone', 'there'], secretsPlain: ['gone'] }
  const pack = buildPack('1.0.0', { artifact: { permissions: asks } })
  packs.settings.unnameable.set('gone', 'unknown_secret')
  const warnings = ['secrets/0', 'secretsPlain/0'].map((at) => ({
    ...{ path: `/artifacts/0/permissions/${at}`, code: 'unknown_secret', file: 'opsplane.pack.json' },
  }))
  expect((await api.post('/sdk/packs/check', pack)).data(PackCheck)).toMatchObject({ problems: [], warnings })
  const installed = await api.post('/sdk/packs/install', { ...pack, grant: asks })
  expect(installed.data(InstalledPack).warnings).toMatchObject(warnings)
  expect(packs.settings.admitted).toContainEqual({ name: 'there', hosts: ['api.example.com'] })
  packs.settings.unnameable.clear()
})

describe('installing', () => {
  it('creates the artifacts of a pack, with their code, schemas and a version', async () => {
    const api = inWorkspace()
    const input = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
    const pack = await install(api, buildPack('1.0.0', { artifact: { input } }))
    expect(pack).toMatchObject({
      name: 'greetings',
      packVersion: '1.0.0',
      status: 'active',
      source: 'inline',
      version: 1,
    })
    const artifact = (await api.get('/sdk/artifacts/greet')).data(ArtifactDetail)
    expect(artifact).toMatchObject({ slug: 'greet', artifactVersion: 1, inputSchema: input, packId: pack.id })
    expect(artifact.source).toContain('Hello')
    expect((await api.get(`/sdk/artifacts/${artifact.id}`)).data(ArtifactDetail)).toEqual(artifact)
    expect((await api.get('/sdk/packs/greetings')).data(Pack)).toEqual(pack)
    expect((await inWorkspace().get('/sdk/artifacts/greet')).status).toBe(404)
  })

  it('accepts a tarball only if it matches its integrity hash', async () => {
    const api = inWorkspace()
    const { manifest, files } = buildPack('1.0.0')
    const bytes = await packTarball({ ...files, 'opsplane.pack.json': JSON.stringify(manifest) })
    const [tarball, integrity] = [bytes.toString('base64'), computeIntegrity(bytes)]
    const other = await api.post('/sdk/packs/install', { tarball, integrity: computeIntegrity('another') })
    expect(other.error().details[0]).toMatchObject({ path: '/integrity', code: 'integrity_mismatch' })
    expect(await install(api, { tarball, integrity })).toMatchObject({ integrity, source: 'tarball' })
    const none = Buffer.from('no archive at all')
    const broken = { tarball: none.toString('base64'), integrity: computeIntegrity(none) }
    expect((await api.post('/sdk/packs/install', broken)).error().details[0]).toMatchObject({
      code: 'invalid_tarball',
    })
  })

  it('reports each problem with its file and line, and installs nothing', async () => {
    const api = inWorkspace()
    const { manifest } = buildPack('1.0.0', {
      artifact: { input: { type: 'strange' }, permissions: { api: ['doNothing'] } },
      more: [{ slug: 'gone', kind: 'api', source: 'src/gone.ts' }],
    })
    const broken = { manifest, files: { 'src/greet.ts': 'export default (\n  1 +* 2)' } }
    const error = (await api.post('/sdk/packs/install', broken)).error()
    expect(error.status).toBe(422)
    expect(error.details.map(({ path, code }) => [path, code])).toEqual([
      ['/manifest/artifacts/0/input/type', expect.any(String)],
      ['/manifest/artifacts/1/source', 'missing_file'],
      ['/files/src~1greet.ts', 'compile_error'],
      ['/manifest/artifacts/0/permissions/api/0', 'unknown_operation'],
    ])
    expect(error.details[2]?.params).toMatchObject({ file: 'src/greet.ts', line: 2 })
    const faultOf = async (body: object) =>
      (await api.post('/sdk/packs/install', body)).error().details.map(({ path }) => path)
    expect(await faultOf({})).toEqual(['/manifest'])
    expect(await faultOf({ ...broken, available: 'itsm-essentials' })).toEqual(['/available'])
    const tooLong = buildPack('1.0.0', { artifact: { slug: 'a'.repeat(101) } })
    expect((await api.post('/sdk/packs/install', tooLong)).status).toBe(422)
    const rule = { events: ['incident.created', 'incident.exploded', 'unknown.*'] }
    const unknown = buildPack('1.0.0', { artifact: { kind: 'business_rule', rule } })
    const { status, details } = (await api.post('/sdk/packs/install', unknown)).error()
    expect(status).toBe(422)
    expect(details.map(({ path }) => path)).toEqual(
      [1, 2].map((at) => `/manifest/artifacts/0/rule/events/${at}`),
    )
    expect(await slugs(api)).toEqual([])
  })

  it('requires a grant of all requested permissions, and acts with no more rights than they need', async () => {
    const api = inWorkspace()
    const pack = buildPack('1.0.0', { artifact: { permissions: asking } })
    const check = (await api.post('/sdk/packs/check', pack)).data(PackCheck)
    expect(check).toMatchObject({
      change: 'install',
      asks: asking,
      needs: ['secrets:use', 'topics:write'],
      missing: [],
      problems: [],
    })
    const refused = await api.post('/sdk/packs/install', { ...pack, grant: { http: ['api.example.com'] } })
    expect(refused.error()).toMatchObject({
      status: 422,
      details: [
        {
          path: '/grant',
          code: 'not_granted',
          params: { missing: { secrets: ['api_key'], topics: ['greetings'] } },
        },
      ],
    })
    const installed = await install(api, { ...pack, grant: check.asks })
    expect(installed.granted).toEqual(check.asks)
    expect(packs.granted.at(-1)).toMatchObject({
      run: `${installed.id}.1`,
      permissions: ['secrets:use', 'topics:write'],
      expiresInSeconds: null,
    })
  })

  it('requires a separate grant for code that reads secret values', async () => {
    const api = inWorkspace()
    const asks = { secretsPlain: ['api_key'] }
    const pack = buildPack('1.0.0', { artifact: { permissions: asks } })
    for (const grant of [{ secrets: ['api_key'] }, { secretsPlain: ['other'] }]) {
      const refused = await api.post('/sdk/packs/install', { ...pack, grant })
      expect(refused.error().details).toMatchObject([{ code: 'not_granted', params: { missing: asks } }])
    }
    expect((await install(api, { ...pack, grant: asks })).granted).toMatchObject({ ...asks, secrets: [] })
  })

  it('requires the rights that the artifacts of the pack need', async () => {
    const held = permissions.filter((each) => each !== 'secrets:use')
    const api = inWorkspace({ permissions: held })
    const pack = buildPack('1.0.0', { artifact: { permissions: asking } })
    expect((await api.post('/sdk/packs/check', pack)).data(PackCheck).missing).toEqual(['secrets:use'])
    const refused = (await api.post('/sdk/packs/install', { ...pack, grant: asking })).error()
    expect(refused).toMatchObject({ code: 'forbidden', details: [{ params: { missing: ['secrets:use'] } }] })
    const rule = buildPack('1.0.0', {
      artifact: { kind: 'business_rule', rule: { events: ['secret.*'] } },
    })
    const unseeing = inWorkspace({ permissions: ['sdk:read', 'sdk:write'] })
    expect((await unseeing.post('/sdk/packs/install', rule)).error().details[0]?.params).toEqual({
      missing: ['secrets:read'],
    })
    expect(
      (await inWorkspace({ permissions: ['sdk:read'] }).post('/sdk/packs/install', rule)).error().code,
    ).toBe('insufficient_scope')
  })

  it('rejects a slug that another pack uses', async () => {
    const api = inWorkspace()
    await install(api, buildPack('1.0.0'))
    const { manifest, files } = buildPack('1.0.0')
    const error = (
      await api.post('/sdk/packs/install', { manifest: { ...manifest, name: 'others' }, files })
    ).error()
    expect(error.details[0]).toMatchObject({ path: '/manifest/artifacts/0/slug', code: 'not_unique' })
  })
})

describe('a version of a pack', () => {
  it('replaces the previous one, and a rollback restores the same artifact versions', async () => {
    const api = inWorkspace()
    const more = [{ slug: 'wave', kind: 'api' as const, source: 'src/greet.ts' }]
    const first = await install(api, buildPack('1.0.0', { more }))
    const second = await install(api, buildPack('1.1.0', { greeting: 'Good day' }))
    expect(second).toMatchObject({ id: first.id, packVersion: '1.1.0', version: 2 })
    expect(await slugs(api)).toEqual(['greet'])
    const older = { ...buildPack('1.0.0', { more }), downgrade: false }
    expect((await api.post('/sdk/packs/install', older)).error().code).toBe('conflict')
    const back = (await api.post(`/sdk/packs/${first.id}/rollback`, { to: '1.0.0' })).data(Pack)
    expect(back.artifacts).toEqual(first.artifacts)
    const { items } = (await api.get('/sdk/artifacts/greet/versions')).page(ArtifactVersion)
    expect(items.map(({ number, current, packVersion }) => [number, current, packVersion])).toEqual([
      [2, false, '1.1.0'],
      [1, true, '1.0.0'],
    ])
    expect(await slugs(api)).toEqual(['greet', 'wave'])
    expect((await api.get('/sdk/artifacts/greet/versions/3')).status).toBe(404)
  })

  it('never changes its content: other content under the same version is rejected', async () => {
    const api = inWorkspace()
    await install(api, buildPack('1.0.0'))
    const other = (await api.post('/sdk/packs/install', buildPack('1.0.0', { greeting: 'Hi' }))).error()
    expect(other).toMatchObject({ code: 'conflict' })
    expect(await install(api, buildPack('1.0.0'))).toMatchObject({
      version: 2,
      artifacts: [{ artifactVersion: 1 }],
    })
  })

  it('is installed completely when two are installed concurrently, and a rejected request gets 409', async () => {
    const api = inWorkspace()
    await install(api, buildPack('1.0.0'))
    const answers = await Promise.all(
      ['1.1.0', '1.2.0'].map((version) =>
        api.post('/sdk/packs/install', buildPack(version, { greeting: version })),
      ),
    )
    const pack = (await api.get('/sdk/packs/greetings')).data(Pack)
    const artifact = (await api.get('/sdk/artifacts/greet')).data(ArtifactDetail)
    expect(artifact.source).toContain(pack.packVersion)
    for (const answer of answers) expect([201, 409]).toContain(answer.status)
  })
})

describe('uninstalling', () => {
  it('removes the artifacts, keeps their versions, and revokes the grant', async () => {
    const api = inWorkspace()
    const pack = await install(api, buildPack('1.0.0'))
    const { id } = (await api.get('/sdk/artifacts/greet')).data(ArtifactDetail)
    const grant = `grant-${packs.granted.length}`
    expect((await api.send('DELETE', `/sdk/packs/${pack.id}`)).status).toBe(204)
    expect(packs.revoked).toContain(grant)
    expect(await slugs(api)).toEqual([])
    expect((await api.get('/sdk/packs')).page(Pack).items).toEqual([])
    expect((await api.send('DELETE', `/sdk/packs/${pack.id}`)).status).toBe(404)
    const again = await install(api, buildPack('2.0.0', { greeting: 'Hi' }))
    expect(again).toMatchObject({ id: pack.id, artifacts: [{ id, artifactVersion: 2 }] })
  })
})

describe('promotion', () => {
  it('installs the same pack in another environment, where it requires a new grant', async () => {
    const principal = testPrincipal()
    const api = packs.service.as(principal)
    const pack = await install(api, {
      ...buildPack('1.0.0', { artifact: { permissions: asking } }),
      grant: asking,
    })
    const path = `/sdk/packs/${pack.id}/promote`
    expect((await api.post(path, { environment: 'production', grant: asking })).error().code).toBe('conflict')
    expect((await api.post(path, { environment: 'staging' })).error().details[0]?.code).toBe('not_granted')
    const promoted = (await api.post(path, { environment: 'staging', grant: asking })).data(Pack)
    expect(promoted).toMatchObject({ name: 'greetings', source: 'promotion', packVersion: '1.0.0' })
    expect(promoted.id).not.toBe(pack.id)
    expect(packs.granted.at(-1)).toMatchObject({ environment: 'staging' })
    const there = packs.service.as({ ...principal, environment: 'staging' })
    expect(await slugs(there)).toEqual(['greet'])
  })
})

describe('the available packs', () => {
  it('include a shipped one, whose artifacts can be installed by its name', async () => {
    const api = inWorkspace()
    const [shipped] = (await api.get('/sdk/packs/available')).data(z.array(AvailablePack))
    expect(shipped).toMatchObject({ name: 'itsm-essentials', installedVersion: null })
    const pack = await install(api, { available: 'itsm-essentials', grant: shipped?.asks })
    expect(pack.artifacts).toHaveLength(5)
    const [after] = (await api.get('/sdk/packs/available')).data(z.array(AvailablePack))
    expect(after?.installedVersion).toBe(shipped?.packVersion)
    expect((await api.post('/sdk/packs/install', { available: 'nothing' })).error().details[0]?.code).toBe(
      'unknown_pack',
    )
  })
})

describe('a validation', () => {
  const validates = { tables: ['assets'], on: ['create'], whenUnavailable: 'fail_closed' } as const
  const checking = (rule: object = { validates }) => {
    const { manifest, files } = buildPack('1.0.0', { artifact: { kind: 'business_rule' } })
    const [artifact] = manifest.artifacts
    return { manifest: { ...manifest, artifacts: [{ ...artifact, rule }] }, files }
  }

  it('is announced to the database studio before the installation of its pack is acknowledged', async () => {
    const principal = testPrincipal()
    const api = packs.service.as(principal)
    packs.studio.up = false
    const unsure = await api.post('/sdk/packs/install', checking())
    packs.studio.up = true
    expect([unsure.status, unsure.error().code]).toEqual([503, 'service_unavailable'])
    const { id } = (await api.get('/sdk/artifacts/greet')).data(ArtifactDetail)
    const pack = await install(api, checking())
    const said = { workspaceId: principal.workspaceId, environment: 'production' }
    // Not necessarily the last announcement: the consumer may announce the first version only now.
    expect(packs.announced).toContainEqual({
      ...said,
      validations: [{ artifactId: id, version: 2, validates }],
    })
    await api.post(`/sdk/packs/${pack.id}/promote`, { environment: 'staging' })
    expect(packs.announced).toContainEqual({
      ...said,
      environment: 'staging',
      validations: [expect.objectContaining({ validates })],
    })
    const elsewhere = testPrincipal()
    await install(packs.service.as(elsewhere), buildPack('1.0.0'))
    await api.send('DELETE', `/sdk/packs/${pack.id}`)
    const gone = { ...said, validations: [{ artifactId: id, version: 3, validates: null }] }
    await waitFor(() => packs.announced.some((each) => isDeepStrictEqual(each, gone)))
    expect(packs.announced.filter((each) => each.workspaceId === elsewhere.workspaceId)).toEqual([])
  })

  it('can be installed only by users with permission to change tables', async () => {
    const without = inWorkspace({ permissions: permissions.filter((each) => each !== 'tables:write') })
    const refused = await without.post('/sdk/packs/install', checking())
    expect([refused.status, refused.error().message]).toEqual([403, expect.stringContaining('tables:write')])
  })

  it.each([
    [{ validates: { ...validates, tables: [] } }, '/rule/validates/tables'],
    [{ validates: { ...validates, tables: ['assets', 'assets'] } }, '/rule/validates/tables'],
    [{ validates: { ...validates, whenUnavailable: undefined } }, '/rule/validates/whenUnavailable'],
    [{ validates, events: ['record.created'] }, '/rule'],
  ])('is rejected with the rule %j', async (rule, path) => {
    const { details } = (await inWorkspace().post('/sdk/packs/install', checking(rule))).error()
    expect(details.map((detail) => detail.path)).toEqual([`/manifest/artifacts/0${path}`])
  })
})

describe('the state of packs', () => {
  it('is published as events of the pack and its artifacts', async () => {
    const principal = testPrincipal()
    const api = packs.service.as(principal)
    const recorder = await recordEvents(packs.service.natsPrefix)
    const types = () =>
      recorder.published
        .filter(({ event }) => event.workspaceId === principal.workspaceId)
        .map(({ event }) => event.type)
    const { id } = await install(api, buildPack('1.0.0'))
    await install(api, buildPack('1.0.1', { greeting: 'Hi' }))
    await api.send('DELETE', `/sdk/packs/${id}`)
    await waitFor(() => types().length === 6)
    expect(types().sort()).toEqual([
      ...['artifact.created', 'artifact.removed', 'artifact.updated'],
      ...['pack.installed', 'pack.uninstalled', 'pack.upgraded'],
    ])
    await recorder.stop()
  })

  it('is the same after a rebuild from its events', async () => {
    const rows = async () => [
      await packs.service.sql`select id, version, state from packs order by id`,
      await packs.service.sql`select id, version, state from artifacts order by id`,
    ]
    const before = await rows()
    await packs.service.rebuild()
    expect(await rows()).toEqual(before)
    expect(before[0]?.length).toBeGreaterThan(5)
  })
})
