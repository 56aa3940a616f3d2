import { hostOfUrl } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { CallFailure } from './call-failure.js'
import { Credential } from './credential.js'
import { answeredFailure, type SendHttp } from './http-calls.js'
import type { Call } from './kind.js'

/** Client credentials, RFC 6749 section 4.4. */
export const OAuth2 = z.strictObject({
  type: z.literal('oauth2'),
  tokenUrl: z.string().max(2_048),
  clientId: z.string().min(1).max(1_000),
  clientSecret: Credential,
  scope: z.string().max(2_000).optional(),
  audience: z.string().max(2_000).optional(),
  clientAuth: z.enum(['header', 'body']).default('header').meta({
    description:
      'Where the id and secret of the client are sent to the token endpoint: in a header or in the body.',
  }),
})
export type OAuth2 = z.output<typeof OAuth2>

const TokenAnswer = z.object({
  access_token: z.string().min(1).max(16_384),
  expires_in: z.coerce.number().min(0).optional(),
})

const maxKept = 1_000
/** Lifetime in seconds if the response does not contain one. */
const usualSeconds = 300
/** A token is not used in the last tenth of its lifetime, limited to the last 30 seconds. */
const restMs = (lifeMs: number) => Math.min(30_000, lifeMs / 10)

interface Kept {
  token: string
  until: number
}

export interface AccessTokens {
  /** Returns a valid token. `renew`: requests a new one because the previous one was rejected. Throws `CallFailure`. */
  token(call: Call, auth: OAuth2, renew: boolean): Promise<string>
}

/**
 * Caches tokens while they are valid. The cache key includes the client secret, which is resolved for each use:
 * rotating the secret, or losing the right to use it, invalidates the token.
 */
export function createAccessTokens(send: SendHttp, nowMs = () => performance.now()): AccessTokens {
  const kept = new LRUCache<string, Kept>({ max: maxKept })
  const underway = new Map<string, Promise<Kept>>()

  const requestToken = async (key: string, call: Call, auth: OAuth2, client: Client): Promise<Kept> => {
    const began = nowMs()
    const { access_token: token, expires_in: seconds = usualSeconds } = await request(
      send,
      call,
      auth,
      client,
    )
    const lifeMs = seconds * 1_000
    const fresh = { token, until: began + lifeMs - restMs(lifeMs) }
    kept.set(key, fresh)
    return fresh
  }

  return {
    async token(call, auth, renew) {
      const client = await call.secrets.fillAll(
        { id: auth.clientId, secret: auth.clientSecret },
        hostOfUrl(auth.tokenUrl),
      )
      const pair = { id: client.id ?? '', secret: client.secret ?? '' }
      const key = sha256Hex(JSON.stringify([call.tenant, call.connectorId, auth, pair]))
      if (renew) kept.delete(key)
      const known = kept.get(key)
      if (known && known.until > nowMs()) {
        call.secrets.conceal(known.token)
        return known.token
      }
      const pendingToken =
        underway.get(key) ?? requestToken(key, call, auth, pair).finally(() => underway.delete(key))
      underway.set(key, pendingToken)
      // The shared request may have been started by another call with less time left, so it is repeated if it fails.
      const { token } = await pendingToken.catch(() => requestToken(key, call, auth, pair))
      call.secrets.conceal(token)
      return token
    },
  }
}

interface Client {
  id: string
  secret: string
}

async function request(send: SendHttp, call: Call, auth: OAuth2, { id, secret }: Client) {
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (auth.scope !== undefined) form.set('scope', auth.scope)
  if (auth.audience !== undefined) form.set('audience', auth.audience)
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  }
  if (auth.clientAuth === 'header') {
    const pair = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
    call.secrets.conceal(pair)
    headers.authorization = `Basic ${pair}`
  } else {
    form.set('client_id', id)
    form.set('client_secret', secret)
  }
  const url = new URL(auth.tokenUrl)
  // A repeated request yields a second token, which is harmless.
  const answer = await send(call, { method: 'POST', url, headers, body: form.toString(), repeatable: true })
  if (answer.status >= 400) throw tokenFailure(answeredFailure(answer))
  const parsed = TokenAnswer.safeParse(parseJson(answer.body.toString()))
  if (parsed.success) return parsed.data
  throw new CallFailure('protocol', 'The token endpoint answered without an access_token.', { sent: false })
}

/** `sent` is false because no request reached the API itself. */
function tokenFailure({ status, body, retryAfterMs }: CallFailure): CallFailure {
  return new CallFailure('answered', `The token endpoint answered ${status}.`, {
    sent: false,
    ...(status !== undefined && { status }),
    ...(body !== undefined && { body }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
