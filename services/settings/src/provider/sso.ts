import type { Serialized } from '@opsplane/eventstore'
import type { Outbound, Route } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { Members } from '../membership/members.js'
import type { Sessions } from '../session/sessions.js'
import type { CompleteSignIn } from '../session/sign-in.js'
import type { Throttle } from '../session/throttle.js'
import { providerAddresses } from './addresses.js'
import { createAdmission } from './admission.js'
import { identityRoutes } from './identity-routes.js'
import { createIssuers } from './issuers.js'
import { createLogouts } from './logout.js'
import { createProviders } from './providers.js'
import { providerRoutes } from './routes.js'
import { createSsoSignIn } from './sign-in.js'
import { signInRoutes } from './sign-in-routes.js'

export interface SsoOptions {
  vault: Vault
  outbound: Outbound
  throttle: Throttle
  sessions: Sessions
  members: Members
  serialized: Serialized
  completeSignIn: CompleteSignIn
  place: SsoSettings
}

/** Settings of the operator for single sign-on. */
export interface SsoSettings {
  /** Public URL of the installation. */
  publicOrigin: string | undefined
  /** Domains whose people may become users by signing in. */
  domains: readonly string[]
}

/** Single sign-on with identity providers of workspaces. */
export function ssoRoutes(ctx: ServiceContext, options: SsoOptions): Route[] {
  const { vault, outbound, throttle, sessions, members, serialized, completeSignIn } = options
  const { publicOrigin, domains } = options.place
  const addresses = providerAddresses(publicOrigin)
  const issuers = createIssuers(outbound)
  const admission = createAdmission(ctx, { members, serialized, domains })
  const shared = { issuers, addresses, vault, throttle, sessions }
  const signIn = createSsoSignIn(ctx, { ...shared, admission, serialized, completeSignIn })
  const providers = createProviders(ctx, { serialized, sessions, vault, outbound, addresses, domains })
  return [
    ...providerRoutes(ctx, providers),
    ...signInRoutes({ db: ctx.database.db, signIn, logouts: createLogouts(ctx, shared) }),
    ...identityRoutes(ctx, { signIn, sessions }),
  ]
}
