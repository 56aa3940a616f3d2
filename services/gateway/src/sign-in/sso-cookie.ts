import { ssoCallback, ssoStart } from '@opsplane/contracts'
import type { GatewayConfig } from '../config.js'
import { createOwnCookie, type OwnCookie } from './own-cookie.js'
import type { OwnOrigin } from './own-origin.js'

/** The cookie of a sign-in at an identity provider, from which the browser comes back by a navigation that the provider begins. */
export const createSsoCookie = (
  config: Pick<GatewayConfig, 'installationId'>,
  origin: OwnOrigin,
): OwnCookie => createOwnCookie(config, origin, { name: 'opsplane_sso', sameSite: 'Lax' })

/** The one operation that is given what is in it. */
export const takesSsoCookie = ({ operationId }: { operationId: string }): boolean =>
  operationId === ssoCallback

/** It begins such a sign-in, which is for pages of the own origin alone. */
export const beginsSso = ({ operationId }: { operationId: string }): boolean => operationId === ssoStart
