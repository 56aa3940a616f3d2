import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { InvitedUser, Session } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { type SmtpReceiver, startSmtpReceiver, waitFor } from '@opsplane/testing'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { createUserClient } from './users.fixture.js'

const hourMs = 3_600_000

let receiver: SmtpReceiver
let settings: Settings
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>

beforeAll(async () => {
  receiver = await startSmtpReceiver()
  settings = await startSettings({
    ...{ SMTP_URL: receiver.url, SMTP_FROM: 'Opsplane <ops@opsplane.example>' },
    PUBLIC_ORIGIN: 'https://ops.example',
  })
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
  users = createUserClient(settings, ada, api)
})
afterAll(async () => {
  await settings?.stop()
  await receiver?.stop()
})
afterEach(() => {
  receiver.mails.splice(0)
})

interface MailRow {
  id: string
  status: string
  failures: number
  last_error: string | null
  sealed_content: string | null
}
const rowsTo = (email: string) =>
  settings.service.sql<MailRow[]>`select * from mails where email = ${email} order by id`
const settled = (email: string, status: string) =>
  waitFor(async () => {
    const rows = await rowsTo(email)
    return rows.length > 0 && rows.every((row) => row.status === status) && rows
  })
const tokenIn = (text: string | undefined) => /ops_inv_\w+/.exec(text ?? '')?.[0] ?? ''

describe('with a mail server, an invitation', () => {
  it('is mailed to the person, and its token is in no response and no table', async () => {
    const { invitation } = (await users.invite('grace@example.com', 'agent')).data(InvitedUser)
    expect(invitation).toMatchObject({ token: null, link: null, mailed: true })
    const [row] = await settled('grace@example.com', 'sent')
    expect(row?.sealed_content).toBeNull()
    expect(receiver.mails).toHaveLength(1)
    const [mail] = receiver.mails
    expect(mail?.recipients).toEqual(['grace@example.com'])
    expect(mail?.headers.get('message-id')).toBe(`<${row?.id}@opsplane.example>`)
    expect(mail?.headers.get('subject')).toBe('Invitation to acme')
    expect(mail?.text).toContain('Owner of acme invites you to the workspace acme, as agent.')
    const token = tokenIn(mail?.text)
    expect(mail?.text).toContain(`https://ops.example/invitation#token=${token}`)
    const session = (await users.accept({ token, name: 'Grace', password })).data(Session)
    expect(session.workspaces).toMatchObject([{ slug: 'acme', role: 'agent' }])
  })

  it('remains sealed while the server refuses it, and is sent under the same id', async () => {
    receiver.refuseNext(1)
    await users.invite('patient@example.com')
    const [waiting] = await waitFor(async () => {
      const rows = await rowsTo('patient@example.com')
      return rows[0]?.last_error ? rows : null
    })
    expect(waiting).toMatchObject({ status: 'pending', failures: 1 })
    expect(waiting?.sealed_content).not.toContain('ops_inv_')
    settings.clock.advance(30_000)
    await settled('patient@example.com', 'sent')
    expect(tokenIn(receiver.mails[0]?.text)).not.toBe('')
  })

  it('is not sent when it was replaced or ended before it could be sent', async () => {
    await receiver.stop()
    // Waits for the failed attempt, so that no mail is claimed and could still be sent.
    const putOff = (email: string) => waitFor(async () => (await rowsTo(email)).at(-1)?.last_error)
    await users.invite('changed@example.com')
    await putOff('changed@example.com')
    const latest = (await users.invite('changed@example.com')).data(InvitedUser)
    const removed = (await users.invite('removed@example.com')).data(InvitedUser)
    await putOff('removed@example.com')
    await users.remove(removed.id)
    await putOff('changed@example.com')
    receiver = await startSmtpReceiver(Number(new URL(receiver.url).port))
    settings.clock.advance(30_000)
    expect(await settled('changed@example.com', 'sent')).toHaveLength(1)
    expect(await rowsTo('removed@example.com')).toEqual([])
    expect(receiver.mails.map(({ recipients }) => recipients)).toEqual([['changed@example.com']])
    expect(receiver.mails[0]?.text).toContain(latest.invitation.expiresAt)
  })

  it('fails when it would be sent after its expiry, and its secret content is deleted', async () => {
    receiver.refuseNext(2)
    await users.invite('late@example.com', 'viewer', { expiresInHours: 1 })
    await waitFor(async () => (await rowsTo('late@example.com'))[0]?.last_error)
    settings.clock.advance(hourMs)
    expect(await settled('late@example.com', 'failed')).toMatchObject([{ failures: 2, sealed_content: null }])
    receiver.refuseNext(0)
  })

  it('is not mailed when it was refused', async () => {
    expect((await users.invite(ada.email)).error().code).toBe('conflict')
    expect(await rowsTo(ada.email)).toEqual([])
  })
})
