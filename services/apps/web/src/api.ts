import type {
  AppActionAnswer,
  AppActionRequest,
  AppDataAnswer,
  AppDataRequest,
  AppDefinition,
} from '@opsplane/contracts'
import { exactNumbersAsText, parseExact } from '@opsplane/contracts/exact-json'
import type { Place } from './place.js'
import type { Session } from './session.js'

/** An error response of the platform, or `unreachable` if there was no response. */
export class ApiFailure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: readonly Detail[] = [],
    /** HTTP status; 0 if there was no response. */
    readonly status = 0,
  ) {
    super(message)
  }
}

interface Detail {
  path: string
  message: string
  code?: string
}

const withoutLogin = new Set(['unauthenticated', 'invalid_token', 'token_expired'])
/** Whether the user has to log in (again). */
export const needsLogin = (error: unknown): boolean =>
  error instanceof ApiFailure && withoutLogin.has(error.code)

/** Whether the record has changed since it was read. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof ApiFailure && error.code === 'precondition_failed'

/** Whether the app was deployed again since it was loaded. */
export const isRedeployed = (error: unknown): boolean =>
  error instanceof ApiFailure && error.details.some(({ code }) => code === 'redeployed')

const unanswered = new Set([0, 401, 408, 425, 429, 500, 502, 503, 504])
const unfinished = new Set(['version_conflict', 'idempotency_in_progress', 'unreachable'])
/** Whether it is certain that the request had no effect and will have none; a retry is then a new request. */
export const isDefinite = (error: unknown): boolean =>
  error instanceof ApiFailure &&
  !isRedeployed(error) &&
  (error.details.some(({ code }) => code === 'not_retryable') ||
    !(unanswered.has(error.status) || unfinished.has(error.code)))

export interface AppApi {
  definition(): Promise<AppDefinition>
  data(requests: AppDataRequest['requests']): Promise<AppDataAnswer>
  /** The same request with the same key has one effect, however often it is sent. */
  act(request: AppActionRequest, key: string): Promise<unknown>
  /** Returns the token of a new session. */
  logIn(email: string, password: string): Promise<string>
  /** Ends the session on the platform. */
  logOut(): Promise<void>
}

type SentRequest = Partial<AppActionRequest> & Pick<AppActionRequest, 'source'>

/** Requests of a running app to its platform. All reject with `ApiFailure`. */
export function createAppApi({ workspace, app, environment }: Place, session: Session): AppApi {
  const base = `/apps/${encodeURIComponent(workspace)}/${encodeURIComponent(app)}/-`
  const headers = () => ({
    // An embed token contains its workspace and environment.
    ...(!session.isEmbedded && { 'x-workspace': workspace }),
    ...(!session.isEmbedded && environment !== undefined && { 'x-environment': environment }),
    ...(session.token() !== undefined && { authorization: `Bearer ${session.token()}` }),
  })
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    sendRequest(path, {
      method: 'POST',
      headers: { ...headers(), ...more, ...json },
      body: JSON.stringify(body),
    })
  return {
    definition: async () =>
      (await sendRequest(`${base}/definition`, { headers: headers() })) as AppDefinition,
    data: async (requests) => (await post(`${base}/data`, { requests })) as AppDataAnswer,
    act: async (request: SentRequest, key) => {
      const answer = await post(`${base}/actions`, request, { 'idempotency-key': key })
      return (answer as AppActionAnswer).value
    },
    logIn: async (email, password) => {
      const body = JSON.stringify({ email, password })
      const answer = await sendRequest('/api/v1/auth/token', { method: 'POST', headers: json, body })
      return (answer as { accessToken: string }).accessToken
    },
    logOut: async () => void (await post('/api/v1/auth/logout', {})),
  }
}

const json = { 'content-type': 'application/json' }

async function sendRequest(path: string, init: RequestInit): Promise<unknown> {
  // Sends no cookies and caches no response.
  const options: RequestInit = { ...init, credentials: 'omit', cache: 'no-store', redirect: 'error' }
  const response = await fetch(path, options).catch((cause: unknown) => {
    throw new ApiFailure('unreachable', `The platform cannot be reached. (${String(cause)})`)
  })
  const body = await bodyOf(response)
  if (response.ok) return body.data
  const {
    code = 'unreachable',
    message = `The platform answered ${response.status}.`,
    details,
  } = body.error ?? {}
  throw new ApiFailure(code, message, details, response.status)
}

/** Keeps numbers exact. A body that is not JSON is an error page of an intermediary such as a proxy. */
async function bodyOf(response: Response): Promise<Envelope> {
  try {
    const text = await response.text()
    return text === '' ? {} : (exactNumbersAsText(parseExact(text)) as Envelope)
  } catch (cause) {
    if (!response.ok) return {}
    throw new ApiFailure('unreachable', `The answer of the platform was cut off. (${String(cause)})`)
  }
}

interface Envelope {
  data?: unknown
  error?: { code: string; message: string; details?: Detail[] }
}

/** `crypto.randomUUID` exists on secure origins only. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
