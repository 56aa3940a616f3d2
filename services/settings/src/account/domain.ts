import { type Account, ApiError, type Decider, type Decision, type Instant } from '@opsplane/contracts'

/** A login. The password's hash never leaves the service. */
export type AccountState = Account & { passwordHash: string }

export interface CreateAccount {
  kind: 'create'
  id: string
  /** Normalised by its schema: it is what makes accounts unique. */
  email: string
  name: string
  passwordHash: string
  now: Instant
}
export type AccountCommand = CreateAccount

export const account: Decider<AccountState, AccountCommand, Account> = {
  resourceType: 'account',
  table: 'accounts',
  decide,
  expose: ({ passwordHash: _, ...visible }) => visible,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: AccountCommand, state: AccountState | null): Decision<AccountState>[] {
  if (state !== null) throw new ApiError('conflict', 'An account with this id exists already.')
  const { kind: _, now, ...fields } = command
  return [{ type: 'account.created', after: { ...fields, createdAt: now, updatedAt: now } }]
}
