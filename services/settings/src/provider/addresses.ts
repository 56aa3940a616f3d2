import { ApiError, type IdentityProvider } from '@opsplane/contracts'

export interface ProviderAddresses {
  of(providerId: string): Pick<IdentityProvider, 'redirectUri' | 'backchannelLogoutUri'>
  /** Where the provider sends the browser back to. Throws `conflict` without a public origin. */
  redirectUri(providerId: string): string
  /** A path of the public origin as a URL. */
  page(path: string): URL
}

/**
 * Where a provider reaches the installation: by its public origin, and never by what a request says of one. Each provider has
 * an address of its own, so that no answer of one is taken for that of another.
 */
export function providerAddresses(publicOrigin: string | undefined): ProviderAddresses {
  const below = (providerId: string, what: string) => `${origin()}/api/v1/auth/sso/${providerId}/${what}`
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
