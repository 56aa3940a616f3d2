import {
  type Account,
  ApiError,
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  notFound,
  type PasswordResetWay,
} from '@opsplane/contracts'

/** A login. The password hash never leaves the service; `null` until an invited person has set a password. */
export type AccountState = Account & { passwordHash: string | null }

export interface CreateAccount {
  kind: 'create'
  id: string
  /** Normalised by its schema, because it identifies the account uniquely. */
  email: string
  name: string
  /** `null`: no login is possible until the account is claimed. */
  passwordHash: string | null
  now: Instant
}

/** The invited person claims the login that was created for them. */
export interface ClaimAccount {
  kind: 'claim'
  name: string
  passwordHash: string
  /** Whether the invitation was sent by mail. */
  addressProven: boolean
  now: Instant
}

/** Sets a new password; the person has proved the current one. */
export interface ChangePassword {
  kind: 'change_password'
  passwordHash: string
  now: Instant
}

/** Sets a new password; the person received a mail at the address, or a link from an admin. */
export interface ResetPassword {
  kind: 'reset_password'
  by: PasswordResetWay
  passwordHash: string
  now: Instant
}

/** A token mailed to the address was presented. */
export interface ProveAddress {
  kind: 'prove_address'
  now: Instant
}
export type AccountCommand = CreateAccount | ClaimAccount | ChangePassword | ResetPassword | ProveAddress

export const account: Decider<AccountState, AccountCommand, Account> = {
  resourceType: 'account',
  table: 'accounts',
  decide,
  expose: ({ passwordHash: _, ...visible }) => visible,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: AccountCommand, state: AccountState | null): Decision<AccountState>[] {
  if (command.kind === 'create') return [create(command, state)]
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'claim':
      return [claim(command, state)]
    case 'change_password':
    case 'reset_password':
      return [setPassword(command, state)]
    case 'prove_address':
      return state.addressProvenAt === null ? [addressProven(command, state)] : []
    default:
      return assertNever(command)
  }
}

function create({ kind: _, now, ...fields }: CreateAccount, state: AccountState | null) {
  if (state !== null) throw alreadyExists('account')
  const after = { ...fields, addressProvenAt: null, createdAt: now, updatedAt: now }
  return { type: 'account.created', after }
}

/** A reset by mail proves the address; knowing the password or using a link does not. */
function setPassword(command: ChangePassword | ResetPassword, state: AccountState): Decision<AccountState> {
  const { passwordHash, now } = command
  const after = { ...state, passwordHash, updatedAt: now }
  if (command.kind === 'change_password') return { type: 'account.password_changed', after }
  const addressProvenAt = state.addressProvenAt ?? (command.by === 'mail' ? now : null)
  return { type: 'account.password_reset', after: { ...after, addressProvenAt }, extras: { by: command.by } }
}

function addressProven({ now }: ProveAddress, state: AccountState): Decision<AccountState> {
  return { type: 'account.address_proven', after: { ...state, addressProvenAt: now, updatedAt: now } }
}

/** Sets only the first password. */
function claim(
  { name, passwordHash, addressProven: proven, now }: ClaimAccount,
  state: AccountState,
): Decision<AccountState> {
  if (state.passwordHash !== null) {
    throw new ApiError(
      'version_conflict',
      'This login got its password by another request. Try again with it.',
    )
  }
  const addressProvenAt = state.addressProvenAt ?? (proven ? now : null)
  return { type: 'account.claimed', after: { ...state, name, passwordHash, addressProvenAt, updatedAt: now } }
}
