import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '@opsplane/runtime/server-process'

/** A person known to an issuer, with their claims in addition to the subject. */
export interface OidcPerson {
  sub: string
  claims: Record<string, unknown>
}

/** A real OpenID provider on loopback that signs its only person in without a prompt. */
export interface OidcIssuer {
  issuer: string
  clientId: string
  clientSecret: string
  /** The person who signs in. */
  person: OidcPerson
  /** Changes the claims of subsequent ID tokens. */
  tamper: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined
  /** Received requests, as method and path. */
  requests: string[]
  /** Signs claims with the issuer's key. */
  sign(claims: Record<string, unknown>, typ?: string): Promise<string>
  /** Follows redirects from `location` like a browser, and returns the first URL outside the issuer. */
  visit(location: string): Promise<URL>
  stop(): Promise<void>
}

const maxSteps = 10
const algorithm = 'ES256'
/** The same for every issuer, so that only the signature identifies the key's owner. */
const keyId = 'key'

/** Accepts any redirect URL of the client: the tests are about what the client does with the response. */
export async function startOidcIssuer(clientId = 'opsplane'): Promise<OidcIssuer> {
  // Loaded only here, because few tests use it.
  const [{ decodeJwt, exportJWK, generateKeyPair, SignJWT }, { Provider }] = await Promise.all([
    import('jose'),
    import('oidc-provider'),
  ])
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const clientSecret = 'a secret of the client, as long as it has to be'
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid: keyId, alg: algorithm, use: 'sig' }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: ['https://ops.example/callback'],
        post_logout_redirect_uris: ['https://ops.example/'],
        id_token_signed_response_alg: algorithm,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 60, IdToken: 3_600, Interaction: 60, Session: 60, Grant: 60 },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...test.person.claims }) }),
    async loadExistingGrant({ oidc }) {
      const accountId = oidc.session?.accountId ?? ''
      const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId ?? '', accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  provider.Client.prototype.redirectUriAllowed = () => true
  const answer = provider.callback()

  const sign: OidcIssuer['sign'] = (claims, typ = 'JWT') =>
    new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: keyId, typ }).sign(privateKey)

  /** Replaces the ID token in the response of the token endpoint. */
  const tampering = (res: ServerResponse, change: NonNullable<OidcIssuer['tamper']>) => {
    const end = res.end.bind(res)
    res.end = ((body: string | Buffer) => {
      const tokens: Record<string, string> = JSON.parse(body.toString())
      if (tokens.id_token === undefined) return end(body)
      void test.sign(change(decodeJwt(tokens.id_token))).then((id_token) => {
        const text = JSON.stringify({ ...tokens, id_token })
        res.setHeader('content-length', Buffer.byteLength(text))
        end(text)
      })
      return res
    }) as typeof res.end
  }
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    test.requests.push(`${req.method} ${req.url}`)
    if (req.url?.startsWith('/interaction/')) {
      void provider.interactionFinished(req, res, { login: { accountId: test.person.sub } })
      return
    }
    if (req.url === '/token' && test.tamper) tampering(res, test.tamper)
    void answer(req, res)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))

  const test: OidcIssuer = {
    ...{ issuer, clientId, clientSecret, tamper: undefined, requests: [], sign },
    person: { sub: 'stranger', claims: {} },
    async visit(location) {
      const cookies = new Map<string, string>()
      let url = new URL(location)
      for (let step = 0; url.origin === issuer; step++) {
        if (step > maxSteps) throw new Error(`the issuer leads nowhere: ${url.href}`)
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const reply = await fetch(url, { redirect: 'manual', headers: { cookie } })
        const next = reply.headers.get('location')
        if (next === null) throw new Error(`the issuer answers ${reply.status}: ${await reply.text()}`)
        for (const set of reply.headers.getSetCookie()) {
          const [name = '', value = ''] = set.split(';', 1)[0]?.split('=') ?? []
          cookies.set(name, value)
        }
        url = new URL(next, url)
      }
      return url
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return test
}
