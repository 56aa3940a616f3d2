import {
  type Decider,
  type IdentityProviderState,
  type ResourceCommand,
  resourceDecider,
} from '@opsplane/contracts'

/** A provider as stored. Even the sealed secret never leaves the service. */
export type StoredProvider = IdentityProviderState & { sealedSecret: string }

export type ProviderCommand = ResourceCommand<StoredProvider>

const resource = resourceDecider<StoredProvider>({
  resourceType: 'identity_provider',
  table: 'identity_providers',
  displayName: ({ name }) => name,
})

/** Authenticates users of one workspace. Its issuer never changes, because subjects are unique only within an issuer. */
export const identityProvider: Decider<StoredProvider, ProviderCommand, IdentityProviderState> = {
  ...resource,
  expose: ({ sealedSecret: _, ...visible }) => visible,
}
