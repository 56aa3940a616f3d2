import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Notification, newId, Session } from '@opsplane/contracts'
import { type SmtpReceiver, startSmtpReceiver, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { approvalEvent, pausedEvent, publishEvents } from './notification.fixture.js'

const hourMs = 3_600_000

let receiver: SmtpReceiver
let settings: Settings
let ada: Owner

beforeAll(async () => {
  receiver = await startSmtpReceiver()
  const smtp = { SMTP_URL: receiver.url, SMTP_FROM: 'Opsplane <ops@opsplane.example>' }
  settings = await startSettings(smtp)
  ada = await settings.owner('acme')
})
afterAll(async () => {
  await settings?.stop()
  await receiver?.stop()
})
afterEach(() => {
  receiver.mails.splice(0)
})

/** Publishes a pause that occurs now. */
const pause = async (workspaceId = ada.workspaceId, createdAt = settings.clock.now()) => {
  const event = pausedEvent(workspaceId, { createdAt })
  await publishEvents(settings.service.natsPrefix, [event])
  return event.id
}
const mailsAbout = (eventId: string) => settings.service.sql<
  { id: string; status: string; failures: number; last_error: string | null; user_id: string }[]
>`select m.* from mails m join notifications n on n.id = m.notification_id
  where n.event_id = ${eventId} order by m.user_id`
const settled = (eventId: string, status: string) =>
  waitFor(async () => {
    const rows = await mailsAbout(eventId)
    return rows.length > 0 && rows.every((row) => row.status === status) && rows
  })
const attempted = (eventId: string) =>
  waitFor(async () => {
    const rows = await mailsAbout(eventId)
    return rows[0]?.last_error ? rows : null
  })

async function member(owner: Owner, email: string, role: string, status = 'active'): Promise<string> {
  const [id, userId] = [newId('membership'), newId('user')]
  const at = settings.clock.now()
  const state = { id, userId, email, name: email, role, status, createdAt: at, updatedAt: at }
  const { sql } = settings.service
  await sql`insert into memberships (id, workspace_id, environment, version, state)
    values (${id}, ${owner.workspaceId}, 'production', 1, ${sql.json(state)})`
  return userId
}

describe('mail about a notification', () => {
  it('is sent once to each active owner and admin of the workspace', async () => {
    const grace = await settings.owner('grace')
    await settings.owner('elsewhere')
    await member(grace, 'admin@example.com', 'admin')
    await member(grace, 'viewer@example.com', 'viewer')
    await member(grace, 'left@example.com', 'admin', 'deactivated')
    const eventId = await pause(grace.workspaceId)
    const rows = await settled(eventId, 'sent')
    expect(rows).toHaveLength(2)
    expect(receiver.mails.map(({ recipients }) => recipients).sort()).toEqual([
      ['admin@example.com'],
      ['grace@example.com'],
    ])
    const messageIds = receiver.mails.map(({ headers }) => headers.get('message-id')).sort()
    expect(messageIds).toEqual(rows.map(({ id }) => `<${id}@opsplane.example>`).sort())
    const [mail] = receiver.mails
    expect(mail?.headers.get('subject')).toMatch(/^\[grace production\] Webhook "Orders" was paused/)
    expect(mail?.text).toContain('with {"status":"active"}')
    expect(mail?.text).toContain(eventId)
  })

  it('about an approval is sent to the users and the members of the roles that it names', async () => {
    const alan = await settings.owner('alan')
    const asked = await member(alan, 'asked@example.com', 'viewer')
    await member(alan, 'agent@example.com', 'agent')
    await member(alan, 'other@example.com', 'viewer')
    const createdAt = settings.clock.now()
    const event = approvalEvent(alan.workspaceId, { users: [asked], roles: ['agent'], createdAt })
    await publishEvents(settings.service.natsPrefix, [event])
    await settled(event.id, 'sent')
    expect(receiver.mails.map(({ recipients }) => recipients).sort()).toEqual([
      ['agent@example.com'],
      ['asked@example.com'],
    ])
    expect(receiver.mails[0]?.text).toContain('You get this mail because you may decide on this')
  })

  it('is sent once after the server refused it at first', async () => {
    receiver.refuseNext(1)
    const eventId = await pause()
    const [refused] = await attempted(eventId)
    expect(refused).toMatchObject({ status: 'pending', failures: 1 })
    expect(refused?.last_error).toContain('try again later')
    expect(receiver.mails).toHaveLength(0)
    settings.clock.advance(30_000)
    await settled(eventId, 'sent')
    expect(receiver.mails).toHaveLength(1)
  })

  it('is delayed by an outage of the mail server, unlike the notification itself', async () => {
    await receiver.stop()
    const eventId = await pause()
    const [waiting] = await attempted(eventId)
    expect(waiting).toMatchObject({ status: 'pending', failures: 1 })
    const api = await settings.as((await settings.login(ada.email, ada.password)).data(Session).accessToken, {
      workspace: 'acme',
    })
    const { items } = (await api.get('/notifications')).page(Notification)
    expect(items.map((item) => item.eventId)).toContain(eventId)
    receiver = await startSmtpReceiver(Number(new URL(receiver.url).port))
    settings.clock.advance(30_000)
    await settled(eventId, 'sent')
    expect(receiver.mails).toHaveLength(1)
  })

  it('fails after a day', async () => {
    receiver.refuseNext(2)
    const eventId = await pause()
    await attempted(eventId)
    settings.clock.advance(24 * hourMs)
    expect(await settled(eventId, 'failed')).toMatchObject([{ failures: 2 }])
    expect(receiver.mails).toHaveLength(0)
  })

  it('is not sent for older events, as after a reseed', async () => {
    const old = new Date(Date.parse(settings.clock.now()) - 24 * hourMs).toISOString()
    const [past, present] = [await pause(ada.workspaceId, old), await pause()]
    await settled(present, 'sent')
    expect(await settings.service.sql`select 1 from notifications where event_id = ${past}`).toHaveLength(1)
    expect(await mailsAbout(past)).toEqual([])
  })
})
