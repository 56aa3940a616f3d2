import { z } from 'zod'
import { permissions } from './permissions.js'

/**
 * Who may pass the gateway: `public` needs no token, `account` a token but no workspace, `workspace` both. `guest`: a caller with
 * a token of the platform as for `workspace`, and a caller with another token or none as anonymous; the service handles that one.
 */
export const RouteAccess = z.enum(['public', 'account', 'workspace', 'guest'])
export type RouteAccess = z.infer<typeof RouteAccess>

/** What the gateway has to know of an operation before it passes a request on. */
export const RouteRule = z.object({
  access: RouteAccess,
  /** The largest request body, in bytes. */
  bodyLimitBytes: z.int().min(0),
  /** Its answer may take as long as a long-poll or an export. */
  waits: z.boolean(),
  /** It sends events as they come, and its service accepts links for it. */
  isFeed: z.boolean().optional(),
})
export type RouteRule = z.infer<typeof RouteRule>

/** Every operation of a service that clients can call. `path` is a pattern such as `/itsm/incidents/:id`. */
export const RouteTable = z.object({
  routes: z.array(
    z.object({
      operationId: z.string(),
      method: z.string(),
      path: z.string().startsWith('/'),
      /** What calling it takes; null where being logged in is enough, or not even that. */
      permission: z.enum(permissions).nullable().default(null),
      ...RouteRule.shape,
    }),
  ),
})
export type RouteTable = z.infer<typeof RouteTable>

/** For what no contract says otherwise, and for what is no operation. */
export const defaultRouteRule: RouteRule = { access: 'workspace', bodyLimitBytes: 1024 * 1024, waits: false }

/**
 * By which settings has the gateway set the session cookie of a browser: its token, a space, and when it ends; or nothing, to clear
 * it. No client is shown it.
 */
export const sessionCookieHeader = 'x-internal-session-cookie'

/** Signs a browser in. The gateway accepts it from pages of its own origin only. */
export const browserSignIn = 'createBrowserSession'

/** Begins a sign-in at an identity provider. The gateway accepts it from pages of its own origin only. */
export const ssoStart = 'startSso'

/** Where a browser comes back from an identity provider: the one operation that is given the cookie of the sign-in. */
export const ssoCallback = 'finishSso'

/**
 * By which settings has the gateway set the cookie of a sign-in at an identity provider: its value, a space, and when it ends; or
 * nothing, to clear it. The gateway gives the value of the cookie back by it, to `ssoCallback` alone.
 */
export const ssoCookieHeader = 'x-internal-sso-cookie'

/** By which a service is shown the Bearer of a guest, where it is no token of the platform. */
export const guestTokenHeader = 'x-internal-guest-token'
