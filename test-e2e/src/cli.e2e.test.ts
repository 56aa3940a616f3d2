import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  backendNames,
  type Delivery,
  type ReplayStarted,
  type TopicEvent,
  type Webhook,
} from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type CliProcess, createCliRunner } from './cli.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let folder: string
let cli: ReturnType<typeof createCliRunner>
let mended = false
const open: CliProcess[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-cli-e2e-'))
  cli = createCliRunner({ XDG_CONFIG_HOME: folder, OPSPLANE_HOME: join(folder, 'none') })
  cluster = await startTestCluster({ tls: true, services: ['itsm', 'dispatcher'] })
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => (mended ? { status: 200, body: 'thanks' } : { status: 500, body: 'no \u001b[31mdisk' }),
  })
})

afterAll(async () => {
  for (const { child } of open) child.kill('SIGKILL')
  await receiver?.stop()
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const tail = (...args: string[]): CliProcess => {
  const started = cli.start([...args, '--json'])
  open.push(started)
  return started
}
const incident = (title: string) => api('POST', '/itsm/incidents', { body: { title } })

let webhookId: string
const failedDeliveries = () => cli.json<Delivery[]>('deliveries', 'list', webhookId, '--status', 'failed')

test('login reads secrets from standard input, stores them for the user only and does not print them', async () => {
  const { origin, workspace, email, password, apiKey } = cluster.info
  const to = ['login', '--url', origin, '--workspace', workspace]
  const wrong = await cli.runProcess([...to, '--email', email, '--password-stdin'], 'not the password')
  expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('invalid_credentials') })

  const session = await cli.runProcess([...to, '--email', email, '--password-stdin'], `${password}\n`)
  expect(session).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(email) })
  const key = await cli.runProcess([...to, '--api-key-stdin', '--profile', 'key'], `${apiKey}\n`)
  expect(key.code).toBe(0)
  const file = join(folder, 'opsplane', 'config.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { token } = JSON.parse(readFileSync(file, 'utf8')).profiles.default
  for (const { stdout } of [session, key])
    for (const secret of [password, apiKey, token]) expect(stdout).not.toContain(secret)

  const kindOf = async (...args: string[]) =>
    (await cli.json<{ credential: { kind: string } }>('whoami', ...args)).credential.kind
  expect([await kindOf(), await kindOf('--profile', 'key')]).toEqual(['session', 'api_key'])
})

test('a failed delivery is listed, inspected and retried once the endpoint works again', async () => {
  const body = { name: 'cli', url: `${receiver.url}/cli`, events: ['incident.created'], retries: 0 }
  webhookId = (await api<{ data: Webhook }>('POST', '/webhooks', { body })).body.data.id
  expect(await cli.json<Webhook[]>('webhooks', 'list')).toMatchObject([{ id: webhookId, name: 'cli' }])

  await incident('first')
  const [failed] = await waitFor(async () => {
    const found = await failedDeliveries()
    return found.length === 1 && found
  })
  const id = failed?.id ?? ''
  const shown = await cli.run(['deliveries', 'get', webhookId, id])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  for (const part of [
    id,
    'attempt 1',
    `> POST ${receiver.url}/cli`,
    '> X-Service-Event: incident.created',
    '< 500',
  ])
    expect(shown.stdout.toLowerCase()).toContain(part.toLowerCase())
  expect(shown.stdout).toContain('| no \\u001b[31mdisk')
  const sent = await cli.run(['deliveries', 'get', webhookId, id, '--body'])
  expect(JSON.parse(sent.stdout)).toMatchObject({ event: 'incident.created', data: { title: 'first' } })
  const ofEvent = await cli.json<Delivery[]>('deliveries', 'list', '--event', failed?.eventId ?? '')
  expect(ofEvent.map((delivery) => delivery.id)).toEqual([id])

  const ping = await cli.run(['webhooks', 'test', webhookId])
  expect(ping).toMatchObject({ code: 1, stderr: expect.stringContaining('500') })
  mended = true
  expect((await cli.run(['webhooks', 'test', webhookId])).code).toBe(0)
  const again = await cli.run(['deliveries', 'retry', webhookId, id, 'del_none'])
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/del_none: .*not_found, request req_/),
  })
  expect(again.stdout).toContain(id)
  await waitFor(async () => {
    const [delivery] = await cli.json<Delivery[]>('deliveries', 'list', webhookId, '--since', '10m')
    return delivery?.status === 'succeeded'
  })
  const refused = await cli.run(['deliveries', 'retry', webhookId, id])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid_state_transition') })
})

test('webhooks pause and webhooks resume change the status of a webhook', async () => {
  expect(await cli.json('webhooks', 'pause', webhookId)).toMatchObject({ status: 'paused' })
  const paused = await cli.run(['webhooks', 'list', '--status', 'paused'])
  expect(paused.stdout.split('\n')[1]).toMatch(new RegExp(`^${webhookId} {2}cli {3}paused \\(user\\)`))
  expect(await cli.json('webhooks', 'resume', webhookId)).toMatchObject({ status: 'active' })
})

test('replays start counts a range with --dry-run, and sends it with --wait until it is complete', async () => {
  mended = false
  for (const title of ['second', 'third']) await incident(title)
  await waitFor(async () => (await failedDeliveries()).length === 2)
  mended = true
  const range = [webhookId, '--since', '1h', '--type', 'incident.created']
  const dry = await cli.json<ReplayStarted>('replays', 'start', ...range, '--dry-run')
  expect(dry).toEqual({ dryRun: true, count: 2, job: null })
  const before = receiver.received().length
  const { code, stdout, stderr } = await cli.run(['replays', 'start', ...range, '--wait', '--json'])
  const { job } = JSON.parse(stdout) as ReplayStarted
  expect({ code, job }).toMatchObject({ code: 0, job: { status: 'completed', total: 2, replayed: 2 } })
  expect(stderr).toContain('2 of 2 replayed')
  await receiver.waitForRequests(before + 2)
  expect(await cli.json('replays', 'list', webhookId)).toEqual([job])
  const canceled = await cli.run(['replays', 'cancel', webhookId, job?.id ?? ''])
  expect(canceled).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid_state_transition') })
})

test('topics tail prints new events across a gateway outage until Ctrl-C', async () => {
  const publish = (n: number) =>
    cli.json<TopicEvent>('topics', 'publish', 'orders', '--type', 'order.created', '--payload', `{"n":${n}}`)
  const first = await publish(1)
  const numbers = (tool: CliProcess) => tool.lines().map((line) => (JSON.parse(line) as TopicEvent).payload.n)
  const after = tail('topics', 'tail', 'orders', '--after', first.id, '--limit', '2')
  const now = tail('topics', 'tail', 'orders')
  let n = 1
  await waitFor(async () => {
    await publish(++n)
    return now.lines().length > 0 && after.lines().length === 2
  })
  expect(numbers(now)).not.toContain(1)
  expect(await after.exit).toBe(0)
  expect(numbers(after)).toEqual([2, 3])

  await cluster.services.gateway.stop()
  await waitFor(() => now.stderr().includes('trying again'))
  expect(await cli.run(['webhooks', 'list'])).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^error: http.* cannot be reached .*\n$/),
  })
  await cluster.services.gateway.start()
  await publish(1_000)
  await waitFor(() => numbers(now).includes(1_000))
  const seen = numbers(now)
  expect(new Set(seen).size).toBe(seen.length)
  now.child.kill('SIGINT')
  expect(await now.exit).toBe(0)
})

test('events tail prints each event once, through the API and over NATS', async () => {
  const titlesOf = (tool: CliProcess) =>
    tool.lines().map((line) => JSON.parse(line).data.after.title as string)
  const pattern = ['--type', 'incident.*']
  const polled = tail('events', 'tail', ...pattern)
  const pushed = tail('events', 'tail', ...pattern, '--nats-url', cluster.info.natsUrl)
  let n = 0
  await waitFor(
    async () => {
      await incident(`seen ${++n}`)
      return polled.lines().length > 0 && pushed.lines().length > 0
    },
    { intervalMs: 300 },
  )
  const later = Array.from({ length: 20 }, (_, index) => `later ${index}`)
  await Promise.all(later.map(incident))
  for (const tool of [polled, pushed]) {
    await waitFor(() => titlesOf(tool).filter((title) => title.startsWith('later')).length >= later.length)
    tool.child.kill('SIGINT')
    expect(await tool.exit).toBe(0)
    expect(tool.stderr()).toBe('')
    const titles = titlesOf(tool)
    expect(new Set(titles).size).toBe(titles.length)
    expect(titles).toEqual(expect.arrayContaining(later))
  }
  const listed = await cli.json<unknown[]>('events', 'list', '--type', 'incident.created', '--all')
  expect(listed).toHaveLength(3 + n + later.length)
})

test('closing the output pipe ends the CLI without an error', async () => {
  const tool = tail('events', 'tail', '--since', '1h')
  tool.child.stdout.destroy()
  expect(await tool.exit).toBe(0)
  expect(tool.stderr()).toBe('')
})

test('wrong usage exits with code 2', async () => {
  const usage = { code: 2, stdout: '', stderr: expect.stringContaining("unknown option '--colour'") }
  expect(await cli.runProcess(['webhooks', 'list', '--colour'])).toMatchObject(usage)
  expect(await cli.run(['webhooks', 'list', '--profile', 'none'])).toMatchObject({ code: 2, stdout: '' })
})

test('status, rebuild and reseed work on the servers without the API', async () => {
  const database = `--database-url=${cluster.info.postgresUrl}`
  const status = await cli.json<{ service: string; events: number }[]>('status', database)
  expect(status.map(({ service }) => service)).toEqual([...backendNames])
  const [{ events } = { events: 0 }] = status.filter(({ service }) => service === 'itsm')
  expect(events).toBeGreaterThan(20)
  const rebuilt = await cli.run(['rebuild', '--service', 'itsm', database])
  expect(rebuilt).toMatchObject({ code: 0, stdout: `SERVICE  EVENTS\nitsm     ${events}\n` })
  expect(rebuilt.stderr).toContain('read models rebuilt')
  const range = ['--service', 'itsm', '--to', '2', database, `--nats-url=${cluster.info.natsUrl}`]
  const unsigned = await cli.run(['reseed', ...range])
  expect(unsigned).toMatchObject({ code: 2, stderr: expect.stringContaining('the key of itsm') })
  range.push('--home', cluster.folder)
  expect(await cli.json('reseed', ...range)).toEqual([{ service: 'itsm', published: 2 }])
})

test('logout ends the session and deletes its token', async () => {
  const file = join(folder, 'opsplane', 'config.json')
  const { token } = JSON.parse(readFileSync(file, 'utf8')).profiles.default
  expect(await cli.run(['logout'])).toMatchObject({ code: 0, stderr: '' })
  const answer = await api('GET', '/auth/me', { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(401)
  expect((await cli.runProcess(['whoami'])).code).toBe(2)
  expect((await cli.run(['whoami', '--profile', 'key'])).code).toBe(0)
})
