import { typedClient } from '../platform.js'
import type { Answer, Fields, Info, Sent } from './exchange.js'

type Path = Record<string, string>

export const password = 'correct horse battery staple'

/** Operations that end the session they are called with, change the user's password, or need a new session. */
const consuming = new Set([
  ...['endSession', 'endSsoSession', 'endOwnSessions', 'changePassword'],
  ...['beginTotp', 'renameFactor', 'removeFactor'],
])
/** Operations that reject API keys. */
const personal = new Set([
  'listIdentities',
  'linkIdentity',
  'unlinkIdentity',
  'listSessions',
  'endOwnSession',
  'requestAddressProof',
  'proveAddress',
  'stepUp',
  'listFactors',
])

/** Operations for operators of the installation, or for admins and owners in person: the owner may call all of them. */
export const ownerOnlyOperations = new Set([
  'createUserResetLink',
  'createAccountResetLink',
  'removeAccountFactors',
  'getPlatformStatus',
  'listDeadLetters',
  'redriveDeadLetter',
  'dropDeadLetter',
  'updateIdentityProvider',
  'deleteIdentityProvider',
])

/** Users who sign in. Each sign-in uses a separate address, so that none is delayed by failed ones of others. */
export async function preparePeople(info: Info, send: (sent: Sent) => Promise<Answer>) {
  const owner = typedClient(info)
  let made = 0

  const invite = async (role = 'agent') => {
    const body = { email: `person${++made}@${info.workspace}.example.com`, role }
    return (await owner.post('/settings/users/invite', { body })).data
  }

  const enter = async (target: string, body: Fields): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'x-workspace': undefined }
    const answer = await send({ method: 'POST', target, headers, text: JSON.stringify(body) })
    if (answer.status >= 300) throw new Error(`${target} answers ${answer.status}: ${answer.text}`)
    return (answer.json as { data: { accessToken: string } }).data.accessToken
  }

  /** A new user with a session. */
  const newcomer = async (role?: string) => {
    const { id, email, invitation } = await invite(role)
    const body = { token: invitation?.token ?? '', name: 'Newcomer', password }
    return { id, email, session: await enter('/auth/invitations/accept', body) }
  }

  /** A user who stays signed in. */
  const staying = async () => {
    const person = await newcomer()
    const me = await typedClient({ ...info, apiKey: person.session }).get('/auth/me')
    return { ...person, first: me.data.credential.id }
  }
  const member = await staying()
  // A separate user, because operations tried concurrently would end each other's sessions.
  const watched = await staying()

  /** An additional session of a user, for an operation to end. */
  async function furtherSession({ id, email, first }: typeof member): Promise<Path> {
    const params = { path: { id } }
    const newest = async () =>
      (await owner.get('/settings/users/{id}/sessions', { params })).data[0]?.id ?? ''
    if ((await newest()) === first) await enter('/auth/token', { email, password })
    return { id, sessionId: await newest() }
  }

  let ownSession: Promise<string> | undefined
  const ownerInPerson = () => {
    ownSession ??= enter('/auth/token', { email: info.email, password: info.password })
    return ownSession
  }

  return {
    invite,
    newcomer,
    /** E-mail of a member whose password may be replaced. */
    email: watched.email,
    /** A user's credential for operations that require one; `undefined` for operations that accept an API key. */
    async personalCredential(operationId: string): Promise<string | undefined> {
      if (consuming.has(operationId)) return (await newcomer()).session
      if (ownerOnlyOperations.has(operationId)) return ownerInPerson()
      return personal.has(operationId) ? member.session : undefined
    },
    prepared: {
      // No user here has a factor.
      '/auth/factors/{id}': async () => ({ id: 'fac_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }),
      '/settings/identity-providers/{id}': async () => ({ id: 'idp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }),
      '/auth/identities/{id}': async () => ({ id: 'idn_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }),
      '/auth/sessions/{id}': async () => ({ id: (await furtherSession(member)).sessionId ?? '' }),
      '/settings/users/{id}/sessions': () => furtherSession(watched),
      '/settings/users/{id}/reset-link': async () => ({ id: watched.id }),
      // An API key may not list them, and no consumer creates dead letters here.
      '/platform/dead-letters/{id}': async () => ({ id: 'itsm:999999999' }),
    },
  }
}
