import { ApiError, type IdentityProvider } from '@opsplane/contracts'

export interface ProviderAddresses {
  of(providerId: string): Pick<IdentityProvider, 'redirectUri' | 'backchannelLogoutUri'>
  /** The URL that the provider redirects the browser to. Throws `conflict` without a public origin. */
  redirectUri(providerId: string): string
  /** The URL of a path below the public origin. */
  page(path: string): URL
}

/**
 * URLs at which a provider reaches the installation, built from the public origin and never from a request. Each
 * provider has its own URLs, so that a response of one cannot be mistaken for that of another.
 */
export function providerAddresses(publicOrigin: string | undefined): ProviderAddresses {
  const below = (providerId: string, endpoint: string) =>
    `${origin()}/api/v1/auth/sso/${providerId}/${endpoint}`
  const origin = (): string => {
    if (publicOrigin !== undefined) return publicOrigin
    throw noOrigin()
  }
  return {
    of: (providerId) => ({
      redirectUri: publicOrigin === undefined ? null : below(providerId, 'callback'),
      backchannelLogoutUri: publicOrigin === undefined ? null : below(providerId, 'backchannel-logout'),
    }),
    redirectUri: (providerId) => below(providerId, 'callback'),
    page: (path) => new URL(path, origin()),
  }
}

function noOrigin(): ApiError {
  const message =
    'This installation does not know its own address, which identity providers send browsers back to. Its operator sets PUBLIC_ORIGIN of ' +
    'the settings service.'
  return new ApiError('conflict', message, {
    details: [{ in: 'body', path: '', code: 'no_public_origin', message }],
  })
}
