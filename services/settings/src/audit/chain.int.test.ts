import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { AuditCheckpoint, AuditCheckpointKey, AuditEvent, AuditVerification } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { type ApiClient, testRole, testRolePassword, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { appendToChains } from './append.js'
import { foreignEvent } from './audit.fixture.js'
import { linkHash } from './chain.js'

const at = '2026-03-01T10:00:00.000Z'
let settings: Settings
let database: Database
let owners = 0
let ada: Owner
let api: ApiClient

beforeAll(async () => {
  settings = await startSettings()
  database = connect(settings.service.adminUrl, { schema: 'settings', max: 4 })
})
afterAll(async () => {
  await database?.close()
  await settings?.stop()
})

/** A workspace with a chain of ten events. */
beforeEach(async () => {
  ada = await settings.owner(`acme-${++owners}`)
  api = await settings.as(ada.session, { workspace: ada.slug })
  await waitFor(async () => (await verification()).head?.seq === 3)
  await append(7)
  expect(await verification()).toMatchObject({ valid: true, checked: 10, head: { seq: 10 } })
})

const append = (count: number) => {
  const events = Array.from({ length: count }, (_, index) =>
    foreignEvent(ada.workspaceId, { resource: { type: 'incident', id: `inc_${index}`, displayName: 'x' } }),
  )
  return appendToChains(database.sql, events, at)
}
const verification = async (query = '') => (await api.get(`/audit/verify${query}`)).data(AuditVerification)
const against = async (checkpoint: AuditCheckpoint) =>
  (await api.post('/audit/verify', { checkpoint })).data(AuditVerification)
const checkpoint = async () => (await api.post('/audit/checkpoints')).data(AuditCheckpoint)
/** Runs SQL as a database superuser. */
const sql = (text: string) => settings.service.sql.unsafe(text.replaceAll('$ws', `'${ada.workspaceId}'`))
const eventAt = async (seq: number) => {
  const [row] = await sql(`select id, hash, event from audit_log where workspace_id = $ws and seq = ${seq}`)
  return row as unknown as { id: string; hash: string; event: Record<string, unknown> }
}

const cutAndRewind = async (seq: number) => {
  const { hash } = await eventAt(seq)
  await sql(`delete from audit_log where workspace_id = $ws and seq > ${seq}`)
  await sql(`update audit_heads set seq = ${seq}, hash = '${hash}' where workspace_id = $ws`)
}

describe('verification after changes by a database superuser', () => {
  it('detects an edited event', async () => {
    const { id } = await eventAt(5)
    await sql(`update audit_log set event = jsonb_set(event::jsonb, '{actor,id}', '"usr_other"')::json
      where workspace_id = $ws and seq = 5`)
    expect(await verification()).toMatchObject({
      ...{ valid: false, complete: true, checked: 4, lastSeq: 4 },
      problem: { seq: 5, kind: 'edited', eventId: id },
    })
  })

  it('detects an event that was moved to another environment', async () => {
    await sql(`update audit_log set environment = 'staging' where workspace_id = $ws and seq = 5`)
    expect((await verification()).problem).toMatchObject({ seq: 5, kind: 'edited' })
  })

  it.each([
    ['actor_id', 'usr_other'],
    ['created_at', '2020-01-01T00:00:00.000Z'],
    ['resource_id', 'inc_other'],
    ['request_id', 'req-other'],
    ['address', '203.0.113.99'],
  ])('detects a changed column %s of an event', async (column, value) => {
    const [was] = await settings.service.sql<{ value: string | null }[]>`
      select ${settings.service.sql(column)} as value from audit_log where workspace_id = ${ada.workspaceId} and seq = 5`
    const set = (to: string | null) => settings.service.sql`
      update audit_log set ${settings.service.sql({ [column]: to })} where workspace_id = ${ada.workspaceId} and seq = 5`
    await set(value)
    expect((await verification()).problem).toMatchObject({ seq: 5, kind: 'edited' })
    await set(was?.value ?? null)
    expect(await verification()).toMatchObject({ valid: true })
  })

  it('detects an edited last event with a recomputed hash', async () => {
    // Otherwise a checkpoint of the edited event would reveal the change.
    await sql('update audit_heads set checkpoint_at = null where workspace_id = $ws')
    await sql('delete from audit_checkpoints where workspace_id = $ws')
    const [before, last] = [await eventAt(9), await eventAt(10)]
    const event = { ...last.event, actor: { id: 'usr_other', name: 'Other', type: 'user' } }
    const hash = linkHash(before.hash, 10, event)
    await settings.service
      .sql`update audit_log set event = ${settings.service.sql.json(event)}, hash = ${hash}
      where workspace_id = ${ada.workspaceId} and seq = 10`
    expect((await verification()).problem).toEqual({ seq: 10, kind: 'edited', eventId: last.id })
  })

  it('detects a deleted event', async () => {
    await sql('delete from audit_log where workspace_id = $ws and seq = 6')
    expect((await verification()).problem).toEqual({ seq: 6, kind: 'deleted', eventId: null })
  })

  it.each([
    ['the places', 'seq = -s.other', 'seq = -seq where seq < 0 and'],
    ['the events', "event = o.event, id = o.id || '?'", "id = replace(id, '?', '') where"],
  ])('detects a swap of %s of two events', async (_, swap, settle) => {
    await sql(`update audit_log a set ${swap} from (values (4, 7), (7, 4)) s (own, other), audit_log o
      where a.workspace_id = $ws and a.seq = s.own and o.workspace_id = $ws and o.seq = s.other`)
    await sql(`update audit_log set ${settle} workspace_id = $ws`)
    const { id } = await eventAt(4)
    expect((await verification()).problem).toEqual({ seq: 4, kind: 'reordered', eventId: id })
  })

  it('detects that the newest events were deleted', async () => {
    await sql('delete from audit_log where workspace_id = $ws and seq > 7')
    expect(await verification()).toMatchObject({
      ...{ checked: 7, head: { seq: 10 } },
      problem: { seq: 8, kind: 'truncated', eventId: null },
    })
  })

  it('detects that the head of the chain was deleted', async () => {
    await sql('delete from audit_heads where workspace_id = $ws')
    expect((await verification()).problem).toMatchObject({ seq: 11, kind: 'truncated' })
  })

  it('detects an inserted event with a matching hash', async () => {
    const last = await eventAt(10)
    const event = foreignEvent(ada.workspaceId)
    const forged = { id: event.id, hash: linkHash(last.hash, 11, event) }
    await settings.service
      .sql`insert into audit_log (id, workspace_id, environment, version, event, seq, hash)
      values (${forged.id}, ${ada.workspaceId}, 'production', 1, ${JSON.stringify(event)}::text::json, 11,
        ${forged.hash})`
    expect((await verification()).problem).toEqual({ seq: 11, kind: 'inserted', eventId: forged.id })
  })

  it('detects deleted newest events and a rewound head by a stored checkpoint', async () => {
    await checkpoint()
    await cutAndRewind(7)
    expect((await verification()).problem).toMatchObject({ seq: 8, kind: 'truncated' })
  })

  it('detects deleted events and checkpoints by a checkpoint kept outside', async () => {
    const kept = await checkpoint()
    await cutAndRewind(7)
    await sql('delete from audit_checkpoints where workspace_id = $ws')
    expect(await verification()).toMatchObject({ valid: true, checked: 7 })
    expect(await against(kept)).toMatchObject({
      ...{ valid: false, givenSignature: 'valid' },
      problem: { seq: 8, kind: 'truncated' },
    })
    await append(3)
    expect(await verification()).toMatchObject({ valid: true, checked: 10 })
    expect((await against(kept)).problem).toMatchObject({ seq: 10, kind: 'checkpoint_mismatch' })
  })

  it('detects a forged checkpoint', async () => {
    await checkpoint()
    const { hash } = await eventAt(9)
    // The service may already have signed the chain at one of these positions.
    await sql(`insert into audit_checkpoints (workspace_id, seq, hash, at, signature, key_id)
      select workspace_id, 9, '${hash}', at, signature, key_id from audit_checkpoints where workspace_id = $ws and seq = 10
      on conflict (workspace_id, seq) do update set signature = excluded.signature`)
    expect((await verification()).problem).toMatchObject({ seq: 9, kind: 'checkpoint_mismatch' })
  })
})

describe('verification', () => {
  it('checks a range, starting from the preceding hash', async () => {
    expect(await verification('?from=4&to=6')).toMatchObject({
      valid: true,
      firstSeq: 4,
      lastSeq: 6,
      checked: 3,
    })
    await sql('delete from audit_log where workspace_id = $ws and seq = 3')
    expect((await verification('?from=4')).problem).toMatchObject({ seq: 3, kind: 'deleted' })
    expect(await verification('?from=5')).toMatchObject({ valid: true, checked: 6 })
    expect(await verification('?from=99')).toMatchObject({ valid: true, checked: 0, firstSeq: null })
    expect((await api.get('/audit/verify?from=0')).status).toBe(422)
  })

  it('rejects foreign and altered checkpoints, and reports the signature status of others', async () => {
    const kept = await checkpoint()
    expect(await against(kept)).toMatchObject({ valid: true, givenSignature: 'valid', checkpoint: kept })
    // The form in which a client writes the instant if it parses it instead of keeping the text.
    const read = { ...kept, at: kept.at.replace('Z', '000+00:00') }
    expect(await against(read)).toMatchObject({ valid: true, givenSignature: 'valid' })
    const unknown = { ...kept, keyId: '0123456789abcdef' }
    expect(await against(unknown)).toMatchObject({ valid: true, givenSignature: 'unknown_key' })
    const other = await settings.owner(`other-${owners}`)
    const foreign = await settings.as(other.session, { workspace: other.slug })
    for (const [client, body] of [
      [foreign, kept],
      [api, { ...kept, seq: 9 }],
      [api, { ...kept, signature: 'x' }],
    ] as const) {
      expect((await client.post('/audit/verify', { checkpoint: body })).error().code).toBe(
        'validation_failed',
      )
    }
  })
})

describe('checkpoints', () => {
  it('exist once for each end of the chain, and can be verified with only the public key', async () => {
    const first = await checkpoint()
    expect(await checkpoint()).toEqual(first)
    await append(1)
    const second = await checkpoint()
    const pages = (await api.get('/audit/checkpoints?limit=1')).page(AuditCheckpoint)
    const rest = await api.get(`/audit/checkpoints?limit=1&after=${pages.pagination.nextCursor}`)
    expect([...pages.items, ...rest.page(AuditCheckpoint).items]).toEqual([second, first])

    const { publicKey, keyId } = (await api.get('/audit/checkpoints/key')).data(AuditCheckpointKey)
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    const { signature, keyId: by, workspaceId, seq, hash, at: time } = first
    const signed = `{"at":"${time}","hash":"${hash}","seq":${seq},"workspaceId":"${workspaceId}"}`
    const bytes = Buffer.from(`opsplane-audit-checkpoint-v1\n${signed}`)
    expect(by).toBe(keyId)
    expect(verifySignature(null, bytes, key, Buffer.from(signature, 'base64'))).toBe(true)
  })
})

describe('the chain', () => {
  it('can be recomputed from the data that the API returns', async () => {
    const { items } = (await api.get('/audit?limit=200')).page(AuditEvent)
    let previous = '0'.repeat(64)
    for (const { seq, hash, ...event } of items.sort((a, b) => a.seq - b.seq)) {
      expect(linkHash(previous, seq, event)).toBe(hash)
      previous = hash
    }
    expect(items).toHaveLength(10)
  })

  it('cannot be changed with the database role of the service', async () => {
    const { adminUrl } = settings.service
    const url = new URL(adminUrl)
    Object.assign(url, { username: testRole('settings'), password: testRolePassword })
    const own = connect(url.toString(), { schema: 'settings', max: 1 })
    for (const statement of [
      'update audit_log set hash = hash',
      'delete from audit_log',
      'truncate audit_log',
      'update audit_checkpoints set hash = hash',
      'delete from audit_checkpoints',
    ]) {
      await expect(own.sql.unsafe(statement)).rejects.toThrow('permission denied')
    }
    await own.close()
  })
})
