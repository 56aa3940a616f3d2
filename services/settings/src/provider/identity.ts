import {
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type IdentityState,
  type Instant,
  notFound,
} from '@opsplane/contracts'

export type IdentityCommand =
  | {
      kind: 'link'
      fields: Pick<IdentityState, 'id' | 'userId' | 'providerId' | 'issuer' | 'subject'>
      now: Instant
    }
  | { kind: 'unlink' }

/** Connects a provider's subject to a login. Its login never changes: a new link creates a new identity. */
export const identity: Decider<IdentityState, IdentityCommand> = {
  resourceType: 'identity',
  table: 'identities',
  decide,
  expose: (state) => state,
  describe: ({ subject }) => ({ displayName: subject }),
}

function decide(command: IdentityCommand, state: IdentityState | null): Decision<IdentityState>[] {
  switch (command.kind) {
    case 'link':
      if (state !== null) throw alreadyExists('identity')
      return [
        {
          type: 'identity.linked',
          after: { ...command.fields, createdAt: command.now, updatedAt: command.now },
        },
      ]
    case 'unlink':
      if (state === null) throw notFound()
      return [{ type: 'identity.unlinked', after: null }]
    default:
      return assertNever(command)
  }
}
