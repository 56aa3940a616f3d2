import type {
  AppActionAnswer,
  AppActionRequest,
  AppDataAnswer,
  AppDataRequest,
  AppDefinition,
} from '@opsplane/contracts'
import type { Place } from './place.js'
import type { Session } from './session.js'

/** What the platform answered instead, or that it could not be reached (`unreachable`). */
export class ApiFailure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: readonly { path: string; message: string }[] = [],
  ) {
    super(message)
  }
}

const withoutLogin = new Set(['unauthenticated', 'invalid_token', 'token_expired'])
/** Whether somebody has to log in first, or again. */
export const needsLogin = (error: unknown): boolean =>
  error instanceof ApiFailure && withoutLogin.has(error.code)

export interface AppApi {
  definition(): Promise<AppDefinition>
  data(requests: AppDataRequest['requests']): Promise<AppDataAnswer['results']>
  act(request: AppActionRequest): Promise<unknown>
  /** The token of a new session. */
  logIn(email: string, password: string): Promise<string>
  /** Ends the session at the platform. */
  logOut(): Promise<void>
}

type SentRequest = Partial<AppActionRequest> & Pick<AppActionRequest, 'source'>

/** What a running app asks of its platform. All reject with ApiFailure. */
export function createAppApi({ workspace, app, environment }: Place, session: Session): AppApi {
  const base = `/apps/${encodeURIComponent(workspace)}/${encodeURIComponent(app)}/-`
  const headers = () => ({
    // An embed token has its workspace and its environment in itself.
    ...(!session.isEmbedded && { 'x-workspace': workspace }),
    ...(!session.isEmbedded && environment !== undefined && { 'x-environment': environment }),
    ...(session.token() !== undefined && { authorization: `Bearer ${session.token()}` }),
  })
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    ask(path, { method: 'POST', headers: { ...headers(), ...more, ...json }, body: JSON.stringify(body) })
  return {
    definition: async () => (await ask(`${base}/definition`, { headers: headers() })) as AppDefinition,
    data: async (requests) => ((await post(`${base}/data`, { requests })) as AppDataAnswer).results,
    act: async (request: SentRequest) => {
      const answer = await post(`${base}/actions`, request, { 'idempotency-key': randomKey() })
      return (answer as AppActionAnswer).value
    },
    logIn: async (email, password) => {
      const body = JSON.stringify({ email, password })
      const answer = await ask('/api/v1/auth/token', { method: 'POST', headers: json, body })
      return (answer as { accessToken: string }).accessToken
    },
    logOut: async () => void (await post('/api/v1/auth/logout', {})),
  }
}

const json = { 'content-type': 'application/json' }

async function ask(path: string, init: RequestInit): Promise<unknown> {
  // No cookie goes along, and no cache keeps what comes.
  const options: RequestInit = { ...init, credentials: 'omit', cache: 'no-store', redirect: 'error' }
  const response = await fetch(path, options).catch((cause: unknown) => {
    throw new ApiFailure('unreachable', `The platform cannot be reached. (${String(cause)})`)
  })
  const body = (await response.json().catch(() => ({}))) as Envelope
  if (response.ok) return body.data
  const {
    code = 'unreachable',
    message = `The platform answered ${response.status}.`,
    details,
  } = body.error ?? {}
  throw new ApiFailure(code, message, details)
}

interface Envelope {
  data?: unknown
  error?: { code: string; message: string; details?: { path: string; message: string }[] }
}

/** `crypto.randomUUID` is there on secure origins only. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
