import {
  type Account,
  ApiError,
  type Decider,
  type Decision,
  type Instant,
  notFound,
} from '@opsplane/contracts'

/** A login. The password's hash never leaves the service; null until an invited person has set a password. */
export type AccountState = Account & { passwordHash: string | null }

export interface CreateAccount {
  kind: 'create'
  id: string
  /** Normalised by its schema: it is what makes accounts unique. */
  email: string
  name: string
  /** Null: nobody can log in until the login is claimed. */
  passwordHash: string | null
  now: Instant
}

/** The invited person takes over the login that was made for them. */
export interface ClaimAccount {
  kind: 'claim'
  name: string
  passwordHash: string
  now: Instant
}
export type AccountCommand = CreateAccount | ClaimAccount

export const account: Decider<AccountState, AccountCommand, Account> = {
  resourceType: 'account',
  table: 'accounts',
  decide,
  expose: ({ passwordHash: _, ...visible }) => visible,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: AccountCommand, state: AccountState | null): Decision<AccountState>[] {
  if (command.kind === 'claim') return [claim(command, state)]
  if (state !== null) throw new ApiError('conflict', 'An account with this id exists already.')
  const { kind: _, now, ...fields } = command
  return [{ type: 'account.created', after: { ...fields, createdAt: now, updatedAt: now } }]
}

/** Only the first password is set this way. */
function claim(
  { name, passwordHash, now }: ClaimAccount,
  state: AccountState | null,
): Decision<AccountState> {
  if (state === null) throw notFound()
  if (state.passwordHash !== null) {
    throw new ApiError(
      'version_conflict',
      'This login got its password by another request. Try again with it.',
    )
  }
  return { type: 'account.claimed', after: { ...state, name, passwordHash, updatedAt: now } }
}
