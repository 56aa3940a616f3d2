import { ssoCallback, ssoStart } from '@opsplane/contracts'
import type { GatewayConfig } from '../config.js'
import { createOwnCookie, type OwnCookie } from './own-cookie.js'
import type { OwnOrigin } from './own-origin.js'

/** The cookie of a sign-in with an identity provider. The browser returns by a navigation that the provider starts. */
export const createSsoCookie = (
  config: Pick<GatewayConfig, 'installationId'>,
  origin: OwnOrigin,
): OwnCookie => createOwnCookie(config, origin, { name: 'opsplane_sso', sameSite: 'Lax' })

/** Whether this is the only operation that receives the cookie's value. */
export const isSsoCallback = ({ operationId }: { operationId: string }): boolean =>
  operationId === ssoCallback

/** Whether this starts a sign-in, which only pages of this origin may do. */
export const isSsoStart = ({ operationId }: { operationId: string }): boolean => operationId === ssoStart
