import { InvitedUser, Session } from '@opsplane/contracts'
import type { ApiClient, ApiReply } from '@opsplane/testing'
import { type Owner, password, type Settings } from '../settings.fixture.js'

/** A user who has accepted an invitation. */
export interface JoinedUser {
  userId: string
  email: string
  session: string
  api: ApiClient
}

/** Common operations of tests of users, in the workspace of one owner. */
export function createUserClient(settings: Settings, owner: Owner, api: ApiClient) {
  const place = { workspace: owner.slug }

  const invite = (email: string, role = 'developer', fields: object = {}): Promise<ApiReply> =>
    api.post('/settings/users/invite', { email, role, ...fields })

  /** Creates an invitation and returns its token. */
  const invited = async (email: string, role?: string, fields?: object) => {
    const { invitation, ...user } = (await invite(email, role, fields)).data(InvitedUser)
    return { ...user, token: invitation.token ?? '' }
  }

  const accept = (body: object, address = '203.0.113.8'): Promise<ApiReply> =>
    settings.internal.post('/auth/invitations/accept', body, { 'x-forwarded-for': address })

  return {
    invite,
    invited,
    accept,
    async joined(email: string, role?: string): Promise<JoinedUser> {
      const { token, id } = await invited(email, role)
      const session = (await accept({ token, name: 'New Person', password })).data(Session).accessToken
      return { userId: id, email, session, api: await settings.as(session, place) }
    },
    patch: (userId: string, body: object, client = api) => client.patch(`/settings/users/${userId}`, body),
    remove: (userId: string, client = api) => client.send('DELETE', `/settings/users/${userId}`),
  }
}
