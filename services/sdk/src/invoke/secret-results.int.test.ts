import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Execution, newId, secretsHeader } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { dumpAllRows, type SdkFixture } from './invoke.fixture.js'
import { type SdkProcess, startSdkProcess } from './sdk-process.fixture.js'

/** The caller receives the result returned by the code; the stored one contains no secrets. */

const log = '/origin/api/service-sdk/executions'
const pin = '4711-1234'
const input = { credentials: { pin }, page: 'page-0002' }
const output = { number: `INC-${pin}`, next_token: 'page-0002' }
const shown = { number: 'INC-***', next_token: '***' }
const message = `no luck with ${pin}`

let service: SdkProcess
let world: SdkFixture
beforeAll(async () => {
  service = await startSdkProcess({ SDK_LEASE_MS: '1000' })
  world = service.world
  await world.install({
    slug: 'gives',
    code: `export default async ({ credentials: { pin }, page }) => ({ number: 'INC-' + pin, next_token: page })`,
  })
  await world.install({
    slug: 'throws',
    code: `export default async ({ credentials: { pin } }) => { throw new Error('no luck with ' + pin) }`,
  })
})
afterAll(() => world?.stop())

const as = (tokenId: string) => {
  const { workspaceId, userId } = world.principal
  return world.service.as({ ...testPrincipal({ workspaceId, userId }), tokenId })
}
const invoke = async (
  slug: string,
  { tokenId, key = newId('request'), ...body }: { tokenId: string; key?: string; mode?: 'async' },
) => {
  const answer = await as(tokenId).post(
    `/sdk/artifacts/${slug}/invoke`,
    { input, ...body },
    { 'idempotency-key': key },
  )
  return { execution: answer.data(Execution), replayed: answer.headers.get('idempotency-replayed') }
}
const read = async (id: string, tokenId: string = newId('session')) =>
  (await as(tokenId).get(`${log}/${id}`)).data(Execution)

describe.each([
  ['gives', { status: 'completed', output, error: null }, { status: 'completed', output: shown }],
  [
    'throws',
    { status: 'failed', output: null, error: { message } },
    { status: 'failed', output: null, error: { message: 'no luck with ***' } },
  ],
])('a value with a secret that code %s', (slug, given, kept) => {
  const [tokenId, key] = [newId('token'), newId('request')]
  let first: Execution
  beforeAll(async () => {
    first = (await invoke(slug, { tokenId, key })).execution
  })

  it('is returned to its caller unmasked', () => expect(first).toMatchObject(given))

  it('is returned again for the same Idempotency-Key, even after the service was killed', async () => {
    expect(await invoke(slug, { tokenId, key })).toEqual({ execution: first, replayed: 'true' })
    await service.kill()
    await service.start()
    expect(await invoke(slug, { tokenId, key })).toEqual({ execution: first, replayed: 'true' })
  })

  it('is readable with the API key that requested it, and masked for all others', async () => {
    expect(await read(first.id, tokenId)).toEqual(first)
    for (const other of [newId('token'), newId('session')]) {
      const record = await read(first.id, other)
      expect(record).toMatchObject(kept)
      expect(JSON.stringify(record)).not.toContain(pin)
    }
    const listed = (await as(tokenId).get(log)).page(Execution).items
    expect(JSON.stringify(listed)).not.toContain(pin)
  })

  it('of an asynchronous execution is readable with its API key, and masked for others', async () => {
    const { id } = (await invoke(slug, { tokenId, mode: 'async' })).execution
    await waitFor(async () => (await read(id)).status !== 'running')
    expect(await read(id, tokenId)).toMatchObject(given)
    expect(await read(id)).toMatchObject(kept)
  })

  it('is returned to a repeated request after the service was killed between completion and response', async () => {
    const { sql } = world.service
    const requestKey = newId('request')
    const before = new Set((await sql<{ id: string }[]>`select id from executions`).map(({ id }) => id))
    const lost = invoke(slug, { tokenId, key: requestKey }).catch(() => undefined)
    await waitFor(async () => {
      const ended = await sql<{ id: string }[]>`select id from executions where completed_at is not null`
      return ended.some(({ id }) => !before.has(id))
    })
    await service.kill()
    await service.start()
    // A client that had just received a response repeats its request until the service is available again.
    await lost
    expect((await invoke(slug, { tokenId, key: requestKey })).execution).toMatchObject(given)
  })
})

describe('the secrets in a result', () => {
  const ask = async (by: 'workflows' | 'sdk', headers: Record<string, string>, given: object = input) => {
    const delegate = world.service.asDelegate(by, world.principal)
    const idempotency = { 'idempotency-key': newId('request'), ...headers }
    const answer = await delegate.post('/sdk/artifacts/gives/invoke', { input: given }, idempotency)
    return answer.data(Execution)
  }

  it('are returned to a workflow step that requests them, every time, and to no other caller', async () => {
    const key = { 'idempotency-key': newId('request'), [secretsHeader]: 'true' }
    const first = await ask('workflows', key)
    expect(first).toMatchObject({ output, secrets: [pin] })
    expect(await ask('workflows', key)).toEqual(first)
    expect(await ask('workflows', {})).not.toHaveProperty('secrets')
    expect(await ask('sdk', { [secretsHeader]: 'true' })).not.toHaveProperty('secrets')
    const answer = await as(newId('token')).post(
      '/sdk/artifacts/gives/invoke',
      { input },
      { [secretsHeader]: 'true' },
    )
    expect(answer.data(Execution)).not.toHaveProperty('secrets')
  })

  it('are omitted if the result contains none of them', async () =>
    expect(
      await ask('workflows', { [secretsHeader]: 'true' }, { credentials: { pin: '1' }, page: 'page' }),
    ).not.toHaveProperty('secrets'))
})

it('a secret is stored nowhere in plain text', async () => {
  expect(await dumpAllRows(world.service)).not.toContain(pin)
})
