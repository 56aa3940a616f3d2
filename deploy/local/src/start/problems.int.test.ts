import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { openClient } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { createDatabase, type TestDatabase, testNatsUrl } from '@opsplane/testing'
import { startPlatform } from '../platform.js'
import { services } from '../services.js'
import { openState } from '../state.js'
import { requirePostgres } from './external-servers.js'
import { startProblem } from './problems.js'

const log = createLogger({ service: 'test', level: 'silent' })
const before = { ...process.env }
let database: TestDatabase
let taken: Server
let takenPort: number
let root: string
/** Secrets of one installation, so that only the first start that gets this far applies the migrations. */
let secrets: string

beforeAll(async () => {
  database = await createDatabase()
  taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  takenPort = Object(taken.address()).port
  const made = mkdtempSync(join(tmpdir(), 'opsplane-start-'))
  openState(made).secrets()
  secrets = readFileSync(join(made, 'secrets.json'), 'utf8')
  rmSync(made, { recursive: true })
})
afterAll(async () => {
  taken.close()
  await database.drop()
})
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'opsplane-start-'))
})
afterEach(() => {
  process.env = { ...before }
  rmSync(root, { recursive: true, force: true })
})

const urlWith = (changes: Partial<URL>) => Object.assign(new URL(database.url), changes).href
const place = () => ({ root, logFile: join(root, 'opsplane.log'), environment: process.env })

/** The message for an operator who starts the platform with these variables, in a folder with these files. */
async function problemOf(
  environment: Record<string, string>,
  files: Record<string, string> = {},
  port?: number,
) {
  Object.assign(process.env, { DATABASE_URL: database.url, NATS_URL: testNatsUrl() }, environment)
  for (const [name, content] of Object.entries({ 'secrets.json': secrets, ...files }))
    writeFileSync(join(root, name), content)
  try {
    const started = await startPlatform({ state: openState(root), logFor: () => log, port })
    await started.stop()
    return 'it starts'
  } catch (error) {
    return startProblem(error, place())
  }
}

describe('a failed start is explained with its cause and a remedy', () => {
  const running = JSON.stringify({
    ...{
      origin: 'http://127.0.0.1:1',
      baseUrl: 'http://127.0.0.1:1/api/v1',
      workspace: 'demo',
      email: 'o@x.y',
    },
    ...{ password: 'p', apiKey: 'k', postgresUrl: 'p', natsUrl: 'n', pid: process.pid },
  })

  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'the port is taken',
      () => problemOf({}, {}, takenPort),
      /^Port \d+ of 127\.0\.0\.1 is taken by another program\. Stop that program or choose another port\. .*PORT=\d+ npm start$/,
    ],
    ['METRICS_PORT is none', () => problemOf({ METRICS_PORT: 'http' }), /^METRICS_PORT=http is no port/],
    [
      'DATABASE_URL is none',
      () => problemOf({ DATABASE_URL: 'localhost' }),
      /^DATABASE_URL is no URL such as postgres:/,
    ],
    [
      'Postgres is away',
      () => problemOf({ DATABASE_URL: 'postgres://ops:hidden@127.0.0.1:1/ops' }),
      /^Postgres at 127\.0\.0\.1:1\/ops cannot be reached .*\nCheck that it runs and that DATABASE_URL is right\./,
    ],
    [
      'the password is wrong',
      () => problemOf({ DATABASE_URL: urlWith({ password: 'hidden' }) }),
      /^Postgres at .* refuses: password authentication failed .*\nCorrect the user and the password in DATABASE_URL\.$/,
    ],
    [
      'the database is missing',
      () => problemOf({ DATABASE_URL: urlWith({ pathname: '/no_such_database' }) }),
      /^Postgres at .* refuses: database "no_such_database" does not exist\.\nCreate the database/,
    ],
    [
      'the role may not make roles',
      async () => {
        const admin = openClient(database.url, { schema: 'public', max: 1 })
        await admin`create role start_guest login password 'hidden'`
        try {
          return await problemOf({ DATABASE_URL: urlWith({ username: 'start_guest', password: 'hidden' }) })
        } finally {
          await admin`drop role start_guest`
          await admin.end({ timeout: 5 })
        }
      },
      /^Postgres at .* refuses: permission denied .*\nDATABASE_URL names a superuser/s,
    ],
    [
      'Postgres is too old',
      () => requirePostgres(database.url, 99).then(String, (error: unknown) => startProblem(error, place())),
      /^Postgres at .* is 1\d.*, and Opsplane needs 99 or newer\. Upgrade it/,
    ],
    [
      'NATS_URL is none',
      () => problemOf({ NATS_URL: 'localhost:4222' }),
      /^NATS_URL is no URL such as nats:/,
    ],
    [
      'NATS is away',
      () => problemOf({ NATS_URL: 'nats://itsm:hidden@127.0.0.1:1' }),
      /^NATS at 127\.0\.0\.1:1 does not answer, or refuses the login\. Check that it runs/,
    ],
    [
      'the keys are damaged',
      () => problemOf({}, { 'secrets.json': '{"masterKey": "x' }),
      /secrets\.json is damaged\. .* put back a copy of it, or move the folder/s,
    ],
    [
      'it runs already',
      () => problemOf({}, { 'local.json': running }),
      /^Opsplane already runs here: .* Stop it first/,
    ],
    [
      'fewer connections are left than the services may open',
      () => problemOf({ DATABASE_POOL_SIZE: '500' }),
      /^.*: Postgres has \d+ connections left, and up to 4510 are needed: max_connections is \d+.*\nRaise max_connections/,
    ],
    ['a variable is wrong', () => problemOf({ LIMITS: 'many' }), /LIMITS is not JSON/],
  ])('%s', async (_what, start, sentence) => {
    const problem = await start()
    expect(problem).toMatch(sentence)
    expect(problem).not.toMatch(/hidden|^ +at /m)
  })

  test('errors of the operating system are explained as well, and unknown errors refer to the log', async () => {
    const listening = new Promise((_resolve, reject) =>
      createServer().once('error', reject).listen(1, '203.0.113.7'),
    )
    const unlisted = await listening.catch((error: unknown) => startProblem(error, place()))
    expect(unlisted).toMatch(/^203\.0\.113\.7 is no address of this machine\. Correct HOST/)
    expect(
      startProblem(
        attempt(() => writeFileSync('/dev/full', 'x')),
        place(),
      ),
    ).toMatch(/^The disk of .* is full\./)
    mkdirSync(join(root, 'opsplane.log'))
    const folder = attempt(() => writeFileSync(place().logFile, 'x'))
    expect(startProblem(folder, place())).toMatch(
      /opsplane\.log cannot be used \(EISDIR\)\. Correct its owner/,
    )
    expect(
      startProblem(
        attempt(() => services.itsm.loadConfig({})),
        place(),
      ),
    ).toContain('DATABASE_URL is missing')
    expect(startProblem(new Error('unknown cause'), place())).toMatch(
      /^Opsplane could not start: unknown cause\nThe log says more: .*opsplane\.log$/,
    )
  })
})

const attempt = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test('a damaged local.json is ignored, and does not prevent a start', () => {
  writeFileSync(join(root, 'local.json'), '{"pid": 1')
  expect(openState(root).running()).toBeUndefined()
})

test('the port of the last start is remembered', () => {
  const state = openState(root)
  expect(state.lastPort()).toBeUndefined()
  state.keepPort(18_080)
  expect(openState(root).lastPort()).toBe(18_080)
  writeFileSync(join(root, 'port.json'), 'damaged')
  expect(state.lastPort()).toBeUndefined()
})

test('the program prints only the explanation and exits with 1, and the log contains the stack', async () => {
  const program = fileURLToPath(new URL('../cli.js', import.meta.url))
  const env = { ...before, DATABASE_URL: 'postgres://ops:hidden@127.0.0.1:1/ops', OPSPLANE_HOME: root }
  const [code, stderr] = await new Promise<[unknown, string]>((resolve) => {
    execFile(process.execPath, [program, 'start'], { env }, (error, _stdout, text) =>
      resolve([error?.code, text]),
    )
  })
  expect(code).toBe(1)
  expect(stderr.trim()).toMatch(/^Postgres at 127\.0\.0\.1:1\/ops cannot be reached/)
  expect(stderr).not.toMatch(/^ +at |hidden/m)
  const lines = readFileSync(join(root, 'opsplane.log'), 'utf8').trimEnd().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    msg: 'could not start',
    err: { stack: expect.anything() },
  })
})
