import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import {
  type AuditCheckpoint,
  type AuditEvent,
  AuditEvent as AuditEventSchema,
  AuditExportEnd,
  type AuditVerification,
} from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { request } from 'undici'
import { createCliRunner } from './cli.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: Api
beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
})

const query = async (filters: string) =>
  (await api<{ data: AuditEvent[] }>('GET', `/audit?${filters}`)).body.data

test('the audit log contains the client address and user agent of actions in every service', async () => {
  const headers = { 'user-agent': 'journey/1.0', 'x-forwarded-for': '192.0.2.66' }
  const sent = [
    await api('POST', '/itsm/incidents', { headers, body: { title: 'Where from' } }),
    await api('POST', '/secrets', { headers, body: { name: 'where_from', value: 'x', hosts: ['*'] } }),
    await api('POST', '/webhooks', {
      headers,
      body: { name: 'Where from', url: 'https://example.com/', events: ['change.created'] },
    }),
  ]
  expect(sent.map(({ status }) => status)).toEqual([201, 201, 201])
  for (const type of ['incident.created', 'secret.created', 'webhook.created']) {
    const [event] = await waitFor(async () => {
      const found = await query(`type=${type}`)
      return found.length > 0 && found
    })
    // The gateway trusts no proxy here, so the address a client claims in a header is ignored.
    expect(event?.source).toEqual({ address: '127.0.0.1', userAgent: 'journey/1.0' })
    expect(await query(`type=${type}&address=127.0.0.1`)).toHaveLength(1)
    expect(await query(`requestId=${event?.requestId}`)).toHaveLength(1)
  }
})

test('the audit log is exported and verified through the gateway', async () => {
  const { baseUrl, apiKey, workspace } = platform.info
  const answer = await request(`${baseUrl}/audit/export?type=incident.*`, {
    headers: { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace },
  })
  expect(answer.headers).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="audit-production-/),
  })
  const lines = (await answer.body.text()).trimEnd().split('\n')
  expect(AuditExportEnd.parse(JSON.parse(lines.pop() ?? '')).count).toBe(lines.length)
  const events = lines.map((line) => AuditEventSchema.parse(JSON.parse(line)))
  expect(events).toEqual(await query('type=incident.*&sort=createdAt'))
  await waitFor(async () => (await query('type=audit.exported')).length === 1)

  const verified = await api<{ data: AuditVerification }>('GET', '/audit/verify')
  expect(verified.body.data).toMatchObject({ valid: true, complete: true })
  expect(verified.body.data.checked).toBe(verified.body.data.head?.seq)
})

test('the CLI exports the audit log to a file, as the API sends it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-export-e2e-'))
  const { origin, apiKey, workspace } = platform.info
  const cli = createCliRunner({
    ...{ XDG_CONFIG_HOME: folder, OPSPLANE_HOME: join(folder, 'none') },
    ...{ OPSPLANE_URL: origin, OPSPLANE_API_KEY: apiKey, OPSPLANE_WORKSPACE: workspace },
  })
  const file = join(folder, 'audit.ndjson')
  const { events: count } = await cli.json<{ events: number }>('audit', 'export', '--output', file)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(AuditExportEnd.parse(JSON.parse(lines.pop() ?? ''))).toEqual({ complete: true, count })
  const events = lines.map((line) => AuditEventSchema.parse(JSON.parse(line)))
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['incident.created', 'secret.created']),
  )

  const some = await cli.run(['audit', 'export', '--type', 'secret.*', '--to', '2h ago'])
  expect(some).toMatchObject({ code: 0, stdout: '{"complete":true,"count":0}\n' })
  rmSync(folder, { recursive: true })
})

test('the CLI verifies the audit log against a stored checkpoint, and fails after a deletion in the log', async () => {
  const { origin, apiKey, workspace, postgresUrl } = platform.info
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-audit-e2e-'))
  const cli = createCliRunner({
    ...{ XDG_CONFIG_HOME: folder, OPSPLANE_HOME: join(folder, 'none') },
    ...{ OPSPLANE_URL: origin, OPSPLANE_API_KEY: apiKey, OPSPLANE_WORKSPACE: workspace },
  })
  const kept = join(folder, 'kept.json')
  const checkpoint = await cli.json<AuditCheckpoint>('audit', 'checkpoint')
  writeFileSync(kept, JSON.stringify(checkpoint))
  const verification = await cli.json<AuditVerification>('audit', 'verify', '--checkpoint', kept)
  expect(verification).toMatchObject({ valid: true, givenSignature: 'valid' })
  expect(await cli.run(['audit', 'verify', '--checkpoint', folder])).toMatchObject({ code: 2 })

  const admin = postgres(postgresUrl, { max: 1 })
  await admin`delete from settings.audit_log where workspace_id = ${checkpoint.workspaceId} and seq = 3`
  await admin.end()
  expect(await cli.run(['audit', 'verify'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('deleted at 3'),
    stderr: expect.stringContaining('chain is broken'),
  })
  rmSync(folder, { recursive: true })
})
