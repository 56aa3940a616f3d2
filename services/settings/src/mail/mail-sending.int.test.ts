import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { createComposer } from './compose.js'
import { claimMails, settleMail } from './mail-queue.js'
import { leaseMs, startMailSending } from './mail-sending.js'
import type { Mailer } from './mailer.js'

const log = createLogger({ service: 'settings', level: 'silent' })
const nowMs = Date.parse('2026-03-01T10:00:00.000Z')

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

/** A notification with so many mails that are due. */
async function dueMails(count: number): Promise<void> {
  const { sql } = settings.service
  const id = newId('notification')
  const eventId = newId('event')
  const content = {
    ...{ id, type: 'webhook.paused', title: 'Paused', message: 'Fix it.', severity: 'info', eventId },
    ...{ resource: { type: 'webhook', id: 'wh_1', displayName: 'Orders' }, environment: 'production' },
    createdAt: '2026-03-01T10:00:00.000Z',
  }
  await sql`insert into notifications (id, workspace_id, environment, event_id, version, state)
    values (${id}, ${ada.workspaceId}, 'production', ${eventId}, 1, ${sql.json(content)})`
  for (let index = 0; index < count; index++) {
    const email = `admin${index}@example.com`
    await sql`insert into mails (id, notification_id, user_id, email, due_at, give_up_at)
      values (${`${id}.${index}`}, ${id}, ${String(index)}, ${email}, ${nowMs}, ${nowMs + 3_600_000})`
  }
}
const mails = () =>
  settings.service.sql<{ status: string; attempts: number; due_at: string }[]>`
    select status, attempts, due_at from mails`
/** No mail of these tests is sealed. */
const compose = createComposer({
  seal: () => Promise.reject(new Error('nothing to seal')),
  open: () => Promise.reject(new Error('nothing to open')),
})
const sending = (mailer: Mailer) => startMailSending({ database, mailer, compose, log, nowMs: () => nowMs })

describe('sending', () => {
  it('is shared by replicas: each mail is sent once', async () => {
    await dueMails(23)
    const sent: string[] = []
    const mailer: Mailer = {
      async send({ to }) {
        sent.push(to)
      },
    }
    const replicas = [sending(mailer), sending(mailer), sending(mailer)]
    await waitFor(async () => (await mails()).every(({ status }) => status === 'sent'))
    await Promise.all(replicas.map((replica) => replica.close()))
    expect(sent).toHaveLength(23)
    expect(new Set(sent).size).toBe(23)
  })

  it('is taken over from a replica that died, whose late word no longer counts', async () => {
    await dueMails(1)
    const claim = (at: number) => claimMails(database.db, { nowMs: at, leaseMs, limit: 5 })
    const [dead] = await claim(nowMs)
    expect(await claim(nowMs + leaseMs - 1)).toEqual([])
    const [next] = await claim(nowMs + leaseMs)
    if (dead === undefined || next === undefined) throw new Error('nothing was claimed')
    expect(next).toMatchObject({ id: dead.id, attempts: 2 })
    await settleMail(database.db, dead, { status: 'failed', lastError: 'too late' })
    expect(await mails()).toMatchObject([{ status: 'pending', attempts: 2 }])
    await settleMail(database.db, next, { status: 'sent', lastError: null })
    expect(await mails()).toMatchObject([{ status: 'sent' }])
  })

  it('gives back what is under way when it stops', async () => {
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
    expect(await mails()).toEqual([{ status: 'pending', attempts: 0, due_at: String(nowMs) }])
  })
})
