import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Execution } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type SdkFixture, startSdk } from './invoke.fixture.js'

let world: SdkFixture
let receiver: Receiver
let answer = () => {}

beforeAll(async () => {
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  receiver = await startReceiver({
    tls: false,
    respond: async () => {
      await answered
      return { status: 200 }
    },
  })
  world = await startSdk({
    ...{ SDK_LEASE_MS: '1000', SDK_ALLOW_HTTP: 'loopback', SDK_ALLOWED_CIDRS: '127.0.0.1/32' },
  })
  const module = (body: string) =>
    `import { artifact } from '@opsplane/sdk'\nexport default artifact(async (_, host) => { ${body} })`
  await world.install({ slug: 'plain', code: module("return 'done'") })
  await world.install({
    ...{ slug: 'long', permissions: { http: ['127.0.0.1'] } },
    code: module(`await host.http({ method: 'GET', url: '${receiver.url}/' })`),
  })
})
afterAll(async () => {
  answer()
  await world?.stop()
  await receiver?.stop()
})

const invoke = (slug: string) => world.api.post(`/sdk/artifacts/${slug}/invoke`, { mode: 'sync', input: {} })

/** When the lease of the waiting execution expires; each renewal postpones it. */
async function heldUntil(): Promise<string | undefined> {
  const [row] = await world.service.sql<{ until: string | null }[]>`
    select held_until::text as until from executions where artifact_slug = 'long' and completed_at is null`
  return row?.until ?? undefined
}

async function renewed(): Promise<void> {
  const before = await heldUntil()
  await waitFor(async () => (await heldUntil()) !== before, { message: 'leases to be renewed' })
}

test('an execution whose start is slow is not leased by another replica', async () => {
  const long = invoke('long')
  await waitFor(heldUntil, { message: 'an execution whose lease is renewed' })
  let plain: ReturnType<typeof invoke> | undefined
  await world.service.sql.begin(async (tx) => {
    await tx`lock table execution_keys in share mode`
    plain = invoke('plain')
    await waitFor(
      async () =>
        (await tx`select from pg_locks where not granted and relation = 'execution_keys'::regclass`).length >
        0,
      { message: 'an execution that is being begun' },
    )
    await renewed()
    await renewed()
  })
  expect((await plain)?.data(Execution)).toMatchObject({ status: 'completed', output: 'done' })
  answer()
  expect((await long).data(Execution).status).toBe('completed')
})
