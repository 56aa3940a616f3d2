import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  backendNames,
  type DeadLetter,
  durableConsumers,
  type PlatformStatus,
  WorkspaceStatus,
} from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { createCliRunner } from './cli.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let owner: Api
/** The command-line tool, signed in as an operator. */
let operator: ReturnType<typeof createCliRunner>
let folder: string
let sql: postgres.Sql

const consumer = durableConsumers.itsm?.[0] ?? ''
const secret = 'salary of Grace: 123456'

beforeAll(async () => {
  platform = await joinPlatform()
  const { info, secrets } = platform
  owner = apiClient(info)
  sql = postgres(info.postgresUrl, { max: 1 })
  folder = mkdtempSync(join(tmpdir(), 'opsplane-operator-'))
  operator = createCliRunner({ XDG_CONFIG_HOME: folder, OPSPLANE_HOME: join(folder, 'none') })
  const { email, password, workspace } = secrets.owner
  const login = [
    'login',
    '--url',
    info.origin,
    '--workspace',
    workspace,
    '--email',
    email,
    '--password-stdin',
  ]
  expect(await operator.run(login, `${password}\n`)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  rmSync(folder, { recursive: true, force: true })
})

/** Inserts a dead letter of a consumer; it will fail again when redriven, because no service has signed it. */
async function givenUp(messageId: string, workspaceId: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into itsm.dead_letters (consumer, message_id, subject, stream_sequence, payload, error, deliveries)
    values (${consumer}, ${messageId}, ${`evt.${workspaceId}.production.user.deactivated`}, 1,
      ${JSON.stringify({ secret })}, ${`cannot read ${secret}`}, 10)
    returning id`
  return `itsm:${row?.id}`
}
const workspaceId = async () => (await owner<{ data: { id: string } }>('GET', '/workspaces/me')).body.data.id
const letters = () =>
  operator.json<DeadLetter[]>('dead-letters', 'list', '--api', '--service', 'itsm', '--consumer', consumer)
const ownStatus = async () =>
  WorkspaceStatus.parse((await owner('GET', `/workspaces/${platform.info.workspace}/status`)).body.data)
const ownLetters = async () =>
  (await ownStatus()).services.find(({ name }) => name === 'itsm')?.figures?.deadLetters ?? []

test('every service reports its status to the operator and to the owners of a workspace', async () => {
  const status = await operator.json<PlatformStatus>('status', '--api')
  const answered = ({ services }: Pick<PlatformStatus | WorkspaceStatus, 'services'>) =>
    services.filter(({ state, figures }) => state === 'up' && figures !== null).map(({ name }) => name)
  expect(answered(status)).toEqual([...backendNames])
  expect(status.webhooks).not.toBeNull()
  const own = await ownStatus()
  expect(answered(own)).toEqual([...backendNames])
  expect(own.webhooks).toEqual({ waiting: [], paused: 0 })
})

test('the operator redrives and drops a dead letter without seeing its content, and its owners see both actions', async () => {
  const id = await givenUp('evt_given_up', await workspaceId())
  const other = await givenUp('evt_elsewhere', 'ws_elsewhere')
  expect(await ownLetters()).toEqual([{ consumer, cause: null, count: 1 }])

  const redriven = await operator.run(['dead-letters', 'redrive', id, '--api'])
  expect([redriven.code, redriven.stderr]).toEqual([0, ''])
  const failed = await waitFor(async () =>
    (await letters()).find((each) => each.id === id && each.deliveries === 11),
  )
  expect(failed).toMatchObject({ redrivenAt: null, cause: expect.stringMatching(/^\w+$/) })
  const listed = await operator.run(['dead-letters', 'list', '--api', '--service', 'itsm'])
  expect(listed.stdout).toContain(failed.cause)
  for (const text of [listed.stdout, JSON.stringify(failed)]) expect(text).not.toContain('123456')
  expect(await ownLetters()).toEqual([{ consumer, cause: failed.cause, count: 1 }])

  for (const each of [id, other])
    expect(await operator.run(['dead-letters', 'drop', each, '--api'])).toMatchObject({ code: 0 })
  expect(await ownLetters()).toEqual([])
  for (const type of ['dead_letter.redriven', 'dead_letter.dropped']) {
    const [event] = await waitFor(async () => {
      const { body } = await owner<{ data: { actor: { name: string }; resource: { id: string } }[] }>(
        'GET',
        `/audit?type=${type}`,
      )
      return body.data.length > 0 && body.data
    })
    expect(event).toMatchObject({ actor: { type: 'user' }, resource: { id } })
  }
})
