import { HeaderName, hostOfUrl } from '@opsplane/contracts'
import { z } from 'zod'
import { Credential } from './credential.js'
import type { HttpRequest, SendHttp } from './http-calls.js'
import type { Call, SecretPart } from './kind.js'
import { createAccessTokens, OAuth2 } from './oauth2.js'

/** Authentication of requests. */
export const Auth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('basic'),
      username: z.string().min(1).max(500),
      password: Credential,
    }),
    z.strictObject({ type: z.literal('bearer'), token: Credential }),
    z.strictObject({ type: z.literal('header'), name: HeaderName, value: Credential }),
    OAuth2,
  ])
  .default({ type: 'none' })
export type Auth = z.output<typeof Auth>

/** The host that the secrets of credentials are sent to: the API itself, or its token endpoint. */
export const authSendsTo = (auth: Auth, host: string): SecretPart => ({
  ...{ path: ['auth'], value: auth },
  host: auth.type === 'oauth2' ? hostOfUrl(auth.tokenUrl) : host,
})

/**
 * Sends a request with the credentials of a configuration. If an access token is rejected, retries once with a new
 * one.
 */
export type SendAuthorized = (call: Call, auth: Auth, request: HttpRequest) => ReturnType<SendHttp>

export function createSendAuthorized(send: SendHttp): SendAuthorized {
  const tokens = createAccessTokens(send)
  return async (call, auth, request) => {
    const authorized = async (renew: boolean) => {
      const credentials = await headersOf(call, auth, request.url.hostname, renew)
      return send(call, { ...request, headers: { ...request.headers, ...credentials } })
    }
    const headersOf = async (
      { secrets }: Call,
      authConfig: Auth,
      host: string,
      renew: boolean,
    ): Promise<Record<string, string>> => {
      switch (authConfig.type) {
        case 'none':
          return {}
        case 'basic': {
          const { username, password } = await secrets.fillAll(
            { username: authConfig.username, password: authConfig.password },
            host,
          )
          const pair = Buffer.from(`${username}:${password}`).toString('base64')
          secrets.conceal(pair)
          return { authorization: `Basic ${pair}` }
        }
        case 'bearer':
          return { authorization: `Bearer ${await secrets.fill(authConfig.token, host)}` }
        case 'header':
          return { [authConfig.name.toLowerCase()]: await secrets.fill(authConfig.value, host) }
        case 'oauth2':
          return { authorization: `Bearer ${await tokens.token(call, authConfig, renew)}` }
      }
    }
    const answer = await authorized(false)
    return answer.status === 401 && auth.type === 'oauth2' ? authorized(true) : answer
  }
}
