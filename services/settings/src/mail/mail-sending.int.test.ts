import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { connect, createDueWork, type Database, lockStatement } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { dueMails as dueMailsTable } from '../schema.js'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { createComposer } from './compose.js'
import { mailColumns } from './mail-queue.js'
import { mailSending } from './mail-sending.js'
import type { Mailer } from './mailer.js'

const log = createLogger({ service: 'settings', level: 'silent' })

let settings: Settings
let ada: Owner
let database: Database

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  database = connect(settings.service.adminUrl, { schema: 'settings' })
})
afterAll(async () => {
  await database?.close()
  await settings?.stop()
})
afterEach(() => settings.service.sql`truncate notifications, mails`)

/** A notification with `count` due mails. */
async function dueMails(count: number, workspaceId = ada.workspaceId): Promise<string> {
  const { sql } = settings.service
  const id = newId('notification')
  const eventId = newId('event')
  const content = {
    ...{ id, type: 'webhook.paused', title: 'Paused', message: 'Fix it.', severity: 'info', eventId },
    ...{ resource: { type: 'webhook', id: 'wh_1', displayName: 'Orders' }, environment: 'production' },
    createdAt: '2026-03-01T10:00:00.000Z',
    audience: null,
  }
  await sql`insert into notifications (id, workspace_id, environment, event_id, version, state)
    values (${id}, ${workspaceId}, 'production', ${eventId}, 1, ${sql.json(content)})`
  for (let index = 0; index < count; index++) {
    const email = `admin${index}@example.com`
    await sql`insert into mails (id, workspace_id, notification_id, user_id, email, due_at, give_up_at)
      values (${`${id}.${index}`}, ${workspaceId}, ${id}, ${String(index)}, ${email}, now(), now() + interval '1 h')`
  }
  return id
}
const mails = () =>
  settings.service.sql<
    { id: string; status: string; failures: number; last_error: string | null; lease_owner: string | null }[]
  >`select id, status, failures, last_error, lease_owner from mails order by id`
/** These tests send no sealed mails. */
const vault = {
  seal: () => Promise.reject(new Error('nothing to seal')),
  open: () => Promise.reject(new Error('nothing to open')),
}
function sending(mailer: Mailer) {
  const group = createDueWork({ sql: database.sql, log })
  const compose = createComposer({ vault, db: database.db, clock: settings.clock, publicOrigin: undefined })
  group.start(mailSending({ database, mailer, compose, log }))
  return group
}
/** Accepts all mails except those to these addresses. */
function mailServer(refused: readonly string[] = []) {
  const sent: string[] = []
  const mailer: Mailer = {
    async send({ to }) {
      if (refused.includes(to)) throw new Error(`550 no mailbox\nis called ${to}`)
      sent.push(to)
    },
  }
  return { sent, mailer }
}

describe('sending mails', () => {
  it('is shared by replicas, and sends each mail once', async () => {
    await dueMails(23)
    const { sent, mailer } = mailServer()
    const replicas = [sending(mailer), sending(mailer), sending(mailer)]
    await waitFor(async () => (await mails()).every(({ status }) => status === 'sent'))
    await Promise.all(replicas.map((replica) => replica.close()))
    expect(sent).toHaveLength(23)
    expect(new Set(sent).size).toBe(23)
  })

  it('is not delayed by a mail that is rejected or cannot be composed', async () => {
    const unreadable = await dueMails(1)
    await settings.service.sql`update notifications set state = '{}'`
    await dueMails(12)
    const { sent, mailer } = mailServer(['admin7@example.com'])
    const replica = sending(mailer)
    const left = await waitFor(async () => {
      const rows = (await mails()).filter(({ status }) => status === 'pending')
      return rows.length === 2 && rows.every(({ failures }) => failures === 1) && rows
    })
    await replica.close()
    expect(sent).toHaveLength(11)
    const reasons = new Map(left.map(({ id, last_error }) => [id.startsWith(unreadable), last_error]))
    expect(reasons.get(false)).toBe('550 no mailbox is called admin7@example.com')
    expect(reasons.get(true)).toContain('invalid')
  })

  it('releases the mails in flight when it stops', async () => {
    await dueMails(1)
    let begun = false
    const stuck: Mailer = {
      send: (_mail, signal) =>
        new Promise((_resolve, reject) => {
          begun = true
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    }
    const replica = sending(stuck)
    await waitFor(() => begun)
    await replica.close(0)
    expect(await mails()).toMatchObject([{ status: 'pending', failures: 0, lease_owner: null }])
  })

  it('finds due mails by an index', async () => {
    const { sql } = settings.service
    await sql`insert into mails (id, workspace_id, notification_id, user_id, email, due_at, give_up_at, status)
      select 'm' || n, 'ws_' || n % 100, 'ntf_1', 'usr_1', 'a@b.c', now(), now(), case when n % 50 = 0 then 'pending' else 'sent' end
      from generate_series(1, 20000) n`
    await sql`vacuum analyze mails`
    const claim = { at: null, limit: 5 }
    const turns = { keys: ['ws_0', 'ws_50'], each: 3 }
    for (const [index, statement] of [
      ['mails_due_idx', lockStatement(dueMailsTable, mailColumns, claim)],
      ['mails_turn_idx', lockStatement(dueMailsTable, mailColumns, { ...claim, turns })],
    ] as const) {
      const plan = JSON.stringify(
        await sql.unsafe(`explain (format json) ${statement.text}`, statement.parameters),
      )
      expect(plan).toContain(index)
      expect(plan).not.toContain('Seq Scan')
    }
  })
})
