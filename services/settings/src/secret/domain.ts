import {
  ApiError,
  allowsHost,
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  maxSecretHosts,
  notFound,
  type SecretState,
} from '@opsplane/contracts'

/** A value sealed by the vault, with the version it is bound to. */
export interface SealedValue {
  text: string
  version: number
}

/** A secret. Even the sealed value never leaves the service. */
export type StoredSecret = SecretState & { sealedValue: SealedValue }

export interface CreateSecret {
  kind: 'create'
  id: string
  name: string
  hosts: string[]
  sealedValue: SealedValue
  now: Instant
}

export interface RotateSecret {
  kind: 'rotate'
  sealedValue: SealedValue
  /** If absent, the hosts do not change. */
  hosts?: string[]
  now: Instant
}

/** Allows hosts to which a saved definition sends the secret. */
export interface AddHosts {
  kind: 'add_hosts'
  hosts: string[]
  now: Instant
}

export type SecretCommand = CreateSecret | RotateSecret | AddHosts | { kind: 'delete' }

export const secret: Decider<StoredSecret, SecretCommand, SecretState> = {
  resourceType: 'secret',
  table: 'secrets',
  decide,
  expose: ({ sealedValue: _, ...visible }) => visible,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: SecretCommand, state: StoredSecret | null): Decision<StoredSecret>[] {
  if (command.kind === 'create') return create(command, state)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'rotate':
      return rotate(command, state)
    case 'add_hosts':
      return addHosts(command, state)
    case 'delete':
      return [{ type: 'secret.deleted', after: null }]
    default:
      return assertNever(command)
  }
}

function create({ id, name, hosts, sealedValue, now }: CreateSecret, existing: StoredSecret | null) {
  if (existing !== null) throw alreadyExists('secret')
  return [{ type: 'secret.created', after: { id, name, hosts, sealedValue, createdAt: now, updatedAt: now } }]
}

/**
 * The value is sealed for a specific version before the lock is acquired. If another request takes that version, this
 * value is unusable.
 */
function rotate({ sealedValue, hosts, now }: RotateSecret, state: StoredSecret) {
  if (sealedValue.version !== state.sealedValue.version + 1) {
    throw new ApiError('version_conflict', 'The secret was rotated by another request at the same time.')
  }
  return [
    { type: 'secret.rotated', after: { ...state, hosts: hosts ?? state.hosts, sealedValue, updatedAt: now } },
  ]
}

function addHosts({ hosts, now }: AddHosts, state: StoredSecret) {
  const added = [...new Set(hosts)].filter((host) => !allowsHost(state.hosts, host))
  if (added.length === 0) return []
  if (state.hosts.length + added.length > maxSecretHosts)
    throw new ApiError(
      'conflict',
      `The secret ${state.name} would list more than ${maxSecretHosts} hosts. Rotate it with hosts that are patterns.`,
    )
  return [
    {
      type: 'secret.hosts_added',
      after: { ...state, hosts: [...state.hosts, ...added], updatedAt: now },
      extras: { added },
    },
  ]
}
