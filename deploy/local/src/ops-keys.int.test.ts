import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { connect, createVault } from '@opsplane/postgres'
import { createSealer, masterKeyId } from '@opsplane/runtime'
import { createDatabase, type TestDatabase, testRolePassword } from '@opsplane/testing'
import { finishMasterKeyRotation, prepareMasterKey, readMasterKeys } from './master-key.js'
import { masterKeysInUse, rewrapAllDataKeys, rotateDataKey } from './ops-keys.js'
import { provisionAll } from './platform.js'
import { newMasterKey } from './secrets.js'
import { backends } from './services.js'
import { openState } from './state.js'

let server: TestDatabase
let databaseUrl: string
const oldKey = newMasterKey()
const newKey = newMasterKey()
const [oldId, newId] = [masterKeyId(oldKey), masterKeyId(newKey)]
const services = ['dispatcher', 'sdk', 'settings'] as const
const passwords = Object.fromEntries(Object.keys(backends).map((name) => [name, testRolePassword]))

beforeAll(async () => {
  server = await createDatabase()
  databaseUrl = server.url
  await provisionAll(databaseUrl, passwords)
})
afterAll(() => server?.drop())

const within = async <T>(schema: string, work: (database: ReturnType<typeof connect>) => Promise<T>) => {
  const database = connect(databaseUrl, { schema, max: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

const vaultsOf = (masterKey: string) => ({
  seal: (schema: string, workspaceId: string) =>
    within(schema, ({ db }) => createVault(db, createSealer(masterKey)).seal(workspaceId, 'value', 'a')),
  open: (schema: string, workspaceId: string, text: string) =>
    within(schema, ({ db }) => createVault(db, createSealer(masterKey)).open(workspaceId, text, 'a')),
})

beforeEach(async () => {
  for (const schema of services) await within(schema, ({ sql }) => sql`delete from data_keys`)
  for (const schema of services)
    for (const workspaceId of ['ws_1', 'ws_2']) await vaultsOf(oldKey).seal(schema, workspaceId)
})

const keys = { present: newKey, previous: [oldKey] }
const inUse = (keyId: string, count: number) => services.map((service) => ({ service, keyId, count }))

test('the data keys of every service are found, and rewrapped once', async () => {
  expect(await masterKeysInUse({ databaseUrl })).toEqual(inUse(oldId, 2))
  const result = (rewrapped: number, outdated: number) =>
    services.map((service) => ({ service, keyId: newId, dataKeys: 2, outdated, rewrapped }))
  const said: string[] = []
  const task = { databaseUrl, keys, say: (line: string) => void said.push(line) }
  expect(await rewrapAllDataKeys({ ...task, dryRun: true })).toEqual(result(0, 2))
  expect(await masterKeysInUse({ databaseUrl })).toEqual(inUse(oldId, 2))
  expect(await rewrapAllDataKeys(task)).toEqual(result(2, 2))
  expect(said).toEqual([
    'dispatcher: 2 of 2 data keys',
    'sdk: 2 of 2 data keys',
    'settings: 2 of 2 data keys',
  ])
  expect(await masterKeysInUse({ databaseUrl })).toEqual(inUse(newId, 2))
  expect(await rewrapAllDataKeys(task)).toEqual(result(0, 0))
})

test('a wrong master key for only the last service leaves the data keys of the first unchanged', async () => {
  await within('settings', ({ sql }) => sql`delete from data_keys`)
  const strange = newMasterKey()
  await vaultsOf(strange).seal('settings', 'ws_1')
  for (const dryRun of [true, false])
    await expect(rewrapAllDataKeys({ databaseUrl, keys, dryRun })).rejects.toMatchObject({
      reason: 'refused',
      message: expect.stringMatching(
        new RegExp(`ws_1:1 is wrapped by .* ${masterKeyId(strange)}.*Nothing was changed`),
      ),
    })
  expect((await masterKeysInUse({ databaseUrl }))[0]).toEqual(inUse(oldId, 2)[0])
})

test('an invalid master key is rejected without printing it', async () => {
  const asked = rewrapAllDataKeys({ databaseUrl, keys: { present: newKey, previous: ['hunter2'] } })
  await expect(asked).rejects.toMatchObject({
    reason: 'unnamed',
    message: expect.stringContaining('32 bytes'),
  })
  await expect(asked).rejects.toMatchObject({ message: expect.not.stringContaining('hunter2') })
})

test('a workspace gets a new data key in every service that has one for it', async () => {
  const task = { databaseUrl, keys: { present: oldKey, previous: [] } }
  expect(await rotateDataKey({ ...task, workspaceId: 'ws_1' })).toEqual(
    services.map((service) => ({ service, generation: 2 })),
  )
  await expect(rotateDataKey({ ...task, workspaceId: 'ws_none' })).rejects.toMatchObject({
    reason: 'refused',
  })
  await expect(rotateDataKey({ databaseUrl, keys, workspaceId: 'ws_2' })).rejects.toMatchObject({
    reason: 'refused',
    message: expect.stringContaining(`wrapped by master key ${oldId}`),
  })
  expect(await vaultsOf(oldKey).seal('settings', 'ws_1')).toMatch(/^v2\.2\./)
  expect(await vaultsOf(oldKey).seal('settings', 'ws_2')).toMatch(/^v1\./)
})

test('a local key rotation stores the new key first, and removes the old one once all data keys are rewrapped', async () => {
  const home = mkdtempSync(join(tmpdir(), 'opsplane-keys-'))
  try {
    expect(readMasterKeys(home)).toBeUndefined()
    const state = openState(home)
    state.saveSecrets({ ...state.secrets(), masterKey: oldKey })
    const sealed = await vaultsOf(oldKey).seal('settings', 'ws_1')

    const waiting = prepareMasterKey(home)
    expect(waiting.previous).toEqual([oldKey])
    expect(prepareMasterKey(home)).toEqual(waiting)
    expect(readMasterKeys(home)).toEqual(waiting)
    expect(statSync(join(home, 'secrets.json')).mode & 0o777).toBe(0o600)

    // A start that fails before this step keeps both keys.
    await expect(finishMasterKeyRotation(state, 'postgres://u:p@127.0.0.1:1/x')).rejects.toMatchObject({
      reason: 'away',
    })
    expect(readMasterKeys(home)).toEqual(waiting)

    const { masterKey } = await finishMasterKeyRotation(state, databaseUrl)
    expect(readMasterKeys(home)).toEqual({ present: masterKey, previous: [] })
    expect(masterKey).toBe(waiting.present)
    expect(readFileSync(join(home, 'secrets.json'), 'utf8')).not.toContain(oldKey)
    expect(await masterKeysInUse({ databaseUrl })).toEqual(inUse(masterKeyId(masterKey), 2))
    expect(await vaultsOf(masterKey).open('settings', 'ws_1', sealed)).toBe('value')
  } finally {
    rmSync(home, { recursive: true })
  }
})
