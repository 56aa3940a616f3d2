import { z } from 'zod'
import { permissions } from './permissions.js'

/**
 * Who may pass the gateway. `public`: no token needed. `account`: a token, but no workspace. `workspace`:
 * both. `guest`: with a platform token as for `workspace`; with any other token or none, the caller
 * passes as anonymous and the service decides.
 */
export const RouteAccess = z.enum(['public', 'account', 'workspace', 'guest'])
export type RouteAccess = z.infer<typeof RouteAccess>

/** Facts about an operation that the gateway needs before it forwards a request. */
export const RouteRule = z.object({
  access: RouteAccess,
  /** Maximum size of the request body, in bytes. */
  bodyLimitBytes: z.int().min(0),
  /** The response may take as long as a long-poll or an export. */
  waits: z.boolean(),
  /** The response streams events as they occur, and the service accepts links for the operation. */
  isFeed: z.boolean().optional(),
})
export type RouteRule = z.infer<typeof RouteRule>

/** All operations of a service that clients can call. `path` is a pattern such as `/itsm/incidents/:id`. */
export const RouteTable = z.object({
  routes: z.array(
    z.object({
      operationId: z.string(),
      method: z.string(),
      path: z.string().startsWith('/'),
      /** Permission the operation requires; `null` if a login is enough, or if not even that is needed. */
      permission: z.enum(permissions).nullable().default(null),
      ...RouteRule.shape,
    }),
  ),
})
export type RouteTable = z.infer<typeof RouteTable>

/** Applies where the contract sets nothing else, and to paths that are no operation. */
export const defaultRouteRule: RouteRule = { access: 'workspace', bodyLimitBytes: 1024 * 1024, waits: false }

/**
 * Response header by which settings makes the gateway set a browser's session cookie: token, space and expiry, or empty
 * to clear the cookie. Never forwarded to clients.
 */
export const sessionCookieHeader = 'x-internal-session-cookie'

/** Operation that signs a browser in. The gateway accepts it only from pages of its own origin. */
export const browserSignIn = 'createBrowserSession'

/** Operation that starts a sign-in at an identity provider. The gateway accepts it only from pages of its own origin. */
export const ssoStart = 'startSso'

/** Operation an identity provider redirects the browser to: the only one that receives the sign-in cookie. */
export const ssoCallback = 'finishSso'

/**
 * Response header by which settings makes the gateway set the cookie of a sign-in at an identity
 * provider: value, space and expiry, or empty to clear the cookie. In requests to `ssoCallback`, and only
 * there, the gateway sends the cookie's value in it.
 */
export const ssoCookieHeader = 'x-internal-sso-cookie'

/** Request header that passes a guest's Bearer token to the service if it is no token of the platform. */
export const guestTokenHeader = 'x-internal-guest-token'
