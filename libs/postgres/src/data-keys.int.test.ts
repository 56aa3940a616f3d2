import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createSealer } from '@opsplane/runtime'
import postgres from 'postgres'
import {
  addDataKeyGeneration,
  connect,
  countDataKeys,
  createVault,
  type Database,
  MasterKeyError,
  rewrapDataKeys,
  schemasWithDataKeys,
} from './index.js'

const url = process.env.TEST_DATABASE_URL ?? ''
const schema = 'data_keys_test'
let admin: postgres.Sql
let database: Database

beforeAll(async () => {
  admin = postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: schema } })
  await admin.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema};
    create table ${schema}.data_keys (id text primary key, workspace_id text not null, generation int not null,
      wrapped text not null, created_at timestamptz not null default now(), unique (workspace_id, generation))`)
  database = connect(url, { schema, max: 4 })
})
beforeEach(() => admin`truncate data_keys`)
afterAll(async () => {
  await database?.close()
  await admin.unsafe(`drop schema ${schema} cascade`)
  await admin.end()
})

const [oldKey, newKey, strange] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [
  string,
  string,
  string,
]
const [before, during, after] = [createSealer(oldKey), createSealer(newKey, [oldKey]), createSealer(newKey)]
const vaultWith = (sealer: typeof before) => createVault(database.db, sealer)
const workspaces = (count: number) =>
  Array.from({ length: count }, (_, n) => `ws_${String(n).padStart(4, '0')}`)

/** One value per workspace, sealed by a service that has only the old master key. */
async function sealed(count: number): Promise<Map<string, string>> {
  const vault = vaultWith(before)
  const values = new Map<string, string>()
  for (const id of workspaces(count)) values.set(id, await vault.seal(id, `value of ${id}`, 'a'))
  return values
}

async function expectReadable(values: Map<string, string>, sealer: typeof before): Promise<void> {
  const vault = vaultWith(sealer)
  for (const [id, text] of values) expect(await vault.open(id, text, 'a')).toBe(`value of ${id}`)
}

const rows = () => admin`select * from data_keys order by id`

describe('rewrapping', () => {
  test('leaves every value readable with only the new key, and changes nothing the second time', async () => {
    const values = await sealed(25)
    expect(await countDataKeys(database.db)).toEqual([{ keyId: before.keyId, count: 25 }])
    const batches: number[] = []
    const options = { batch: 10, onBatch: (done: number) => void batches.push(done) }
    expect(await rewrapDataKeys(database.db, during, options)).toEqual({ rewrapped: 25 })
    expect(batches).toEqual([10, 20, 25])
    expect(await countDataKeys(database.db)).toEqual([{ keyId: after.keyId, count: 25 }])
    await expectReadable(values, after)
    const unchanged = await rows()
    expect(await rewrapDataKeys(database.db, during, options)).toEqual({ rewrapped: 0 })
    expect(await rows()).toEqual(unchanged)
  })

  test('loses no values that services seal and open concurrently', async () => {
    const values = await sealed(60)
    const services = [during, createSealer(oldKey, [newKey])].map(vaultWith)
    let finished = false
    let opened = 0
    const work = services.map(async (vault, service) => {
      for (let n = 0; !finished || n < 50; n++) {
        const id = `ws_${String(n % 120).padStart(4, '0')}`
        const text = await vault.seal(id, `value of ${id}`, 'a')
        const reader = services[1 - service] ?? vault
        expect(await reader.open(id, text, 'a')).toBe(`value of ${id}`)
        if (n % 20 === 0) values.set(id, text)
        opened++
      }
    })
    const runs = [1, 2].map(() => rewrapDataKeys(database.db, during, { batch: 3 }))
    const results = await Promise.all(runs).finally(() => {
      finished = true
    })
    await Promise.all(work)
    expect(results.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBeGreaterThanOrEqual(60)
    expect(opened).toBeGreaterThanOrEqual(100)
    // A replica with the old key as its current one may have created data keys after the last batch.
    await rewrapDataKeys(database.db, during)
    expect(await countDataKeys(database.db)).toEqual([{ keyId: after.keyId, count: expect.any(Number) }])
    await expectReadable(values, after)
  })

  test('leaves every value readable when killed between two batches, and continues the next time', async () => {
    const values = await sealed(30)
    const program = fileURLToPath(new URL('./fixture/rewrap-and-hang.js', import.meta.url))
    const env = { ...process.env, SCHEMA: schema, OLD_KEY: oldKey, NEW_KEY: newKey }
    const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await ended
    const counts = await countDataKeys(database.db)
    expect(new Map(counts.map(({ keyId, count }) => [keyId, count]))).toEqual(
      new Map([
        [before.keyId, 20],
        [after.keyId, 10],
      ]),
    )
    await expectReadable(values, during)
    await expectReadable(values, createSealer(oldKey, [newKey]))
    expect(await rewrapDataKeys(database.db, during)).toEqual({ rewrapped: 20 })
    await expectReadable(values, after)
  })

  test.each([
    ['without the old key', after],
    ['with a wrong one', createSealer(newKey, [strange])],
  ])('%s fails and changes nothing, even if some keys are already rewrapped', async (_what, sealer) => {
    await sealed(5)
    // All are verified before the first is changed, so the last one matters.
    for (const { id } of await admin<{ id: string }[]>`select id from data_keys where id < 'ws_0002'`)
      await admin`update data_keys set wrapped = ${during.newDataKey(id)} where id = ${id}`
    const unchanged = await rows()
    const refused = rewrapDataKeys(database.db, sealer)
    await expect(refused).rejects.toThrow(MasterKeyError)
    await expect(refused).rejects.toThrow(`ws_0002:1 is wrapped by master key ${before.keyId}`)
    expect(await rows()).toEqual(unchanged)
  })

  test('rejects an altered data key before it changes any', async () => {
    await sealed(5)
    await admin`update data_keys set wrapped = wrapped || 'AAAA' where id = 'ws_0004:1'`
    const unchanged = await rows()
    await expect(rewrapDataKeys(database.db, during)).rejects.toThrow('ws_0004:1 does not open')
    expect(await rows()).toEqual(unchanged)
  })

  test('covers every schema that has data keys', async () => {
    expect(await schemasWithDataKeys(database.db)).toContain(schema)
  })
})

describe('a new data key generation', () => {
  test('seals all new values, also for replicas with the old one, and the old values stay readable', async () => {
    const vault = vaultWith(before)
    const first = await vault.seal('ws_a', 'first', 'a')
    expect(await addDataKeyGeneration(database.db, before, 'ws_a')).toEqual({ generation: 2 })
    const second = await vault.seal('ws_a', 'second', 'a')
    expect([first, second].map((text) => text.slice(0, 5))).toEqual([expect.stringMatching(/^v1\./), 'v2.2.'])
    for (const reader of [vault, vaultWith(before)]) {
      expect(await reader.open('ws_a', first, 'a')).toBe('first')
      expect(await reader.open('ws_a', second, 'a')).toBe('second')
    }
    await expect(vault.open('ws_a', second.replace('v2.2.', 'v1.'), 'a')).rejects.toThrow()
    await expect(vault.open('ws_a', second.replace('v2.2.', 'v2.3.'), 'a')).rejects.toThrow(
      'no data key ws_a:3',
    )
  })

  test('is created once for each concurrent request', async () => {
    await vaultWith(before).seal('ws_b', 'first', 'a')
    const made = await Promise.all([1, 2, 3].map(() => addDataKeyGeneration(database.db, before, 'ws_b')))
    expect(made.map((key) => key?.generation).sort()).toEqual([2, 3, 4])
  })

  test('requires a workspace with a data key, and the master key that wraps it', async () => {
    expect(await addDataKeyGeneration(database.db, before, 'ws_none')).toBeNull()
    await vaultWith(before).seal('ws_c', 'first', 'a')
    for (const sealer of [createSealer(strange), during])
      await expect(addDataKeyGeneration(database.db, sealer, 'ws_c')).rejects.toThrow(MasterKeyError)
    expect(await rows()).toHaveLength(1)
  })
})

test('a replica that lacked the master key opens the value once its data key is wrapped by one it has', async () => {
  const text = await vaultWith(before).seal('ws_d', 'value', 'a')
  const vault = vaultWith(after)
  await expect(vault.open('ws_d', text, 'a')).rejects.toThrow(`wrapped by master key ${before.keyId}`)
  await rewrapDataKeys(database.db, during)
  expect(await vault.open('ws_d', text, 'a')).toBe('value')
})
