import {
  ApiError,
  type ArtifactState,
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  notFound,
  type ReadModelRow,
} from '@opsplane/contracts'

/** An artifact with its internal fields. */
export interface ArtifactRecord extends ArtifactState {
  /** Digest of the current version. */
  digest: string
  /** The installation whose grant it uses. */
  installation: string
}

/** Fields that a version determines for its artifact. */
export type Released = Pick<
  ArtifactRecord,
  | ('name' | 'description' | 'kind' | 'permissions' | 'limits' | 'retryable' | 'rule' | 'api' | 'schedule')
  | ('digest' | 'installation' | 'packId' | 'packName' | 'ownerId')
>

interface Release {
  now: Instant
  fields: Released
  /** Number of the version, and its row if the version is new. */
  number: number
  row: ReadModelRow | undefined
}

export type ArtifactCommand =
  | ({ kind: 'create'; id: string; slug: string } & Release)
  | ({ kind: 'release' } & Release)
  | { kind: 'remove'; now: Instant }
  /** A platform decision: the owner no longer has the rights the artifact needs. */
  | { kind: 'suspend'; now: Instant }

type Decided = Decision<ArtifactRecord>[]

/** All rules of an artifact. Its slug, id and versions outlive its pack, so that past executions remain explainable. */
export const artifact: Decider<ArtifactRecord, ArtifactCommand, ArtifactState> = {
  resourceType: 'artifact',
  table: 'artifacts',
  decide,
  expose: ({ digest: _, installation: _1, ...shown }) => shown,
  describe: ({ slug }) => ({ displayName: slug }),
}

function decide(command: ArtifactCommand, state: ArtifactRecord | null): Decided {
  if (command.kind === 'create') {
    if (state !== null) throw alreadyExists('artifact')
    const { id, slug, now } = command
    const after = { id, slug, ...released(command), latestVersion: command.number, createdAt: now }
    return [{ type: 'artifact.created', after, ...extraRows(command) }]
  }
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'release': {
      if (command.row !== undefined && command.number !== state.latestVersion + 1) throw raced()
      const latestVersion = command.row === undefined ? state.latestVersion : command.number
      const after = { ...state, ...released(command), latestVersion }
      const type = state.status === 'removed' ? 'artifact.created' : 'artifact.updated'
      return [{ type, after, ...extraRows(command) }]
    }
    case 'remove':
      if (state.status === 'removed') return []
      return [{ type: 'artifact.removed', after: { ...state, status: 'removed', updatedAt: command.now } }]
    case 'suspend':
      if (state.status !== 'active') return []
      return [{ type: 'artifact.updated', after: { ...state, status: 'suspended', updatedAt: command.now } }]
    default:
      return assertNever(command)
  }
}

const released = ({ fields, number, now }: Release) => ({
  ...fields,
  artifactVersion: number,
  status: 'active' as const,
  updatedAt: now,
})

const raced = () =>
  new ApiError('version_conflict', 'The artifact was changed while its pack was installed. Try again.')

const extraRows = ({ row }: Release) => (row ? { extraRows: [row] } : {})
