import {
  ApiError,
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  notFound,
  type ReadModelRow,
  type WorkflowState,
  type WorkflowTrigger,
} from '@opsplane/contracts'
import { isSuspended, statusAfter } from './transitions.js'

/** A workflow with its internal fields. */
export interface WorkflowRecord extends WorkflowState {
  /** Digests of the definitions of the draft and the published version. */
  draftDigest: string
  publishedDigest: string | null
  /** Unguessable part of the address of its inbound webhook. */
  hookId: string
  /**
   * The name under which a promotion created it, and by which further promotions find it; `null` once it is
   * renamed.
   */
  promotedName: string | null
  /** `workspace/environment`, the prefix of its trigger keys. */
  place: string
  /** Trigger of the published version. */
  trigger: WorkflowTrigger | null
  /** Log positions at the activation, by service. Events at or below them start no run. */
  fence: Readonly<Record<string, number>>
}

/** A definition with the row that stores it, written with the event. */
export interface WrittenDefinition {
  digest: string
  row: ReadModelRow
}

interface At {
  now: Instant
}
export interface PinnedVersion {
  number: number
  digest: string
  trigger: WorkflowTrigger
  ownerId: string
}
type Fence = Readonly<Record<string, number>>

export type WorkflowCommand =
  | (At & {
      kind: 'create'
      id: string
      name: string
      description: string
      hookId: string
      place: string
      /** Whether it was promoted from another environment. */
      promoted: boolean
      draft: WrittenDefinition
    })
  | (At & {
      kind: 'update'
      patch: { name?: string | undefined; description?: string | undefined }
      draft?: WrittenDefinition
    })
  /** `draftRevision`: revision of the draft that was checked. */
  | (At & {
      kind: 'publish'
      draftRevision: number
      version: PinnedVersion & WrittenDefinition
      activate: Fence | null
    })
  /** `grant`: the new grant of the caller's rights; `null` if the existing one remains valid. */
  | (At & { kind: 'rollback'; version: PinnedVersion; grant: ReadModelRow | null })
  | (At & { kind: 'activate'; number: number; ownerId: string; grant: ReadModelRow | null; fence: Fence })
  | (At & { kind: 'deactivate' })
  /** A platform decision: the owner no longer has the rights the workflow needs. */
  | (At & { kind: 'suspend'; number: number; ownerId: string; missing: readonly string[] })
  | (At & { kind: 'archive' })
  | (At & { kind: 'rotate_hook'; hookId: string })

type CommandOf<Kind extends WorkflowCommand['kind']> = Extract<WorkflowCommand, { kind: Kind }>
type Decided = Decision<WorkflowRecord>[]

/** All rules of a workflow. Definitions are stored in separate tables because they are too large for events. */
export const workflow: Decider<WorkflowRecord, WorkflowCommand, WorkflowState> = {
  resourceType: 'workflow',
  table: 'workflows',
  decide,
  expose,
  describe: ({ name }) => ({ displayName: name }),
}

function decide(command: WorkflowCommand, state: WorkflowRecord | null): Decided {
  if (command.kind === 'create') {
    if (state !== null) throw alreadyExists('workflow')
    return [{ type: 'workflow.created', after: created(command), extraRows: [command.draft.row] }]
  }
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'update':
      return updated(command, state)
    case 'publish':
      return published(command, state)
    case 'rollback':
      return rolledBack(command, state)
    case 'activate':
      return activated(command, state)
    case 'deactivate':
      return deactivated(state, command.now)
    case 'suspend':
      return suspended(command, state)
    case 'archive':
      return archived(state, command.now)
    case 'rotate_hook':
      statusAfter('update', state)
      return [
        {
          type: 'workflow.hook_rotated',
          after: { ...state, hookId: command.hookId, updatedAt: command.now },
        },
      ]
    default:
      return assertNever(command)
  }
}

function created({
  id,
  name,
  description,
  hookId,
  place,
  promoted,
  draft,
  now,
}: CommandOf<'create'>): WorkflowRecord {
  return {
    ...{ id, name, description },
    status: 'inactive',
    publishedVersion: null,
    latestVersion: 0,
    draftRevision: 1,
    draftChanged: true,
    triggerType: null,
    ownerId: null,
    deactivatedReason: null,
    createdAt: now,
    updatedAt: now,
    draftDigest: draft.digest,
    publishedDigest: null,
    hookId,
    promotedName: promoted ? name : null,
    place,
    trigger: null,
    fence: {},
  }
}

/** An update without changes produces no event. */
function updated({ patch, draft, now }: CommandOf<'update'>, state: WorkflowRecord): Decided {
  statusAfter('update', state)
  const { name = state.name, description = state.description } = patch
  const redrawn = draft !== undefined && draft.digest !== state.draftDigest
  if (!redrawn && name === state.name && description === state.description) return []
  const promotedName = name === state.promotedName ? name : null
  const after = { ...state, name, description, promotedName, updatedAt: now }
  if (!redrawn) return [{ type: 'workflow.updated', after }]
  const drawn = {
    ...after,
    draftRevision: state.draftRevision + 1,
    draftDigest: draft.digest,
    draftChanged: draft.digest !== state.publishedDigest,
  }
  return [{ type: 'workflow.updated', after: drawn, extraRows: [draft.row] }]
}

function published(command: CommandOf<'publish'>, state: WorkflowRecord): Decided {
  const { version, now, activate } = command
  const status = statusAfter('publish', state)
  if (command.draftRevision !== state.draftRevision || version.number !== state.latestVersion + 1)
    throw new ApiError(
      'version_conflict',
      'The workflow was changed while it was being published. Try again.',
    )
  const after = {
    ...pinnedTo(state, version, now),
    status,
    latestVersion: version.number,
    draftChanged: version.digest !== state.draftDigest,
  }
  const decisions: Decided = [
    { type: 'workflow.published', after, extras: { number: version.number }, extraRows: [version.row] },
  ]
  const { number, ownerId } = version
  const activation = { kind: 'activate', number, ownerId, grant: null, now } as const
  return activate ? [...decisions, ...activated({ ...activation, fence: activate }, after)] : decisions
}

function rolledBack({ version, grant, now }: CommandOf<'rollback'>, state: WorkflowRecord): Decided {
  statusAfter('rollback', state)
  if (version.number === state.publishedVersion && isAlreadyGranted(state, version.ownerId, grant)) return []
  const after = { ...pinnedTo(state, version, now), draftChanged: version.digest !== state.draftDigest }
  const extras = { from: state.publishedVersion }
  return [{ type: 'workflow.rolled_back', after, extras, extraRows: grant ? [grant] : [] }]
}

/** Whether the workflow already acts with this person's rights. */
const isAlreadyGranted = (state: WorkflowRecord, ownerId: string, grant: ReadModelRow | null): boolean =>
  grant === null && state.ownerId === ownerId && !isSuspended(state)

/** New runs use this version from now on. */
function pinnedTo(state: WorkflowRecord, version: PinnedVersion, now: Instant): WorkflowRecord {
  return {
    ...state,
    publishedVersion: version.number,
    publishedDigest: version.digest,
    triggerType: version.trigger.type,
    trigger: version.trigger,
    ownerId: version.ownerId,
    deactivatedReason: isSuspended(state) ? null : state.deactivatedReason,
    updatedAt: now,
  }
}

/** If the workflow is already active, another user takes it over without a gap: no event is missed. */
function activated(
  { number, ownerId, grant, fence, now }: CommandOf<'activate'>,
  state: WorkflowRecord,
): Decided {
  const status = statusAfter('activate', state)
  if (number !== state.publishedVersion)
    throw new ApiError('version_conflict', 'Another version was published meanwhile. Try again.')
  const isActive = state.status === status
  if (isActive && isAlreadyGranted(state, ownerId, grant)) return []
  const activatedState = { ...state, status, ownerId, deactivatedReason: null, updatedAt: now }
  const after = isActive ? activatedState : { ...activatedState, fence }
  return [{ type: 'workflow.activated', after, extraRows: grant ? [grant] : [] }]
}

function deactivated(state: WorkflowRecord, now: Instant): Decided {
  const status = statusAfter('deactivate', state)
  if (state.status === status) return []
  const reason = 'user' as const
  const after = { ...state, status, deactivatedReason: reason, updatedAt: now }
  return [{ type: 'workflow.deactivated', after, extras: { reason } }]
}

/**
 * Also applies to an inactive workflow, which could be run manually. Does not apply if another user has granted it
 * their rights in the meantime.
 */
function suspended({ number, ownerId, missing, now }: CommandOf<'suspend'>, state: WorkflowRecord): Decided {
  const isCurrent = state.publishedVersion === number && state.ownerId === ownerId
  if (!isCurrent || state.status === 'archived' || isSuspended(state)) return []
  const reason = 'owner_rights' as const
  const after = { ...state, status: 'inactive' as const, deactivatedReason: reason, updatedAt: now }
  return [{ type: 'workflow.deactivated', after, extras: { reason, missing } }]
}

function archived(state: WorkflowRecord, now: Instant): Decided {
  const status = statusAfter('archive', state)
  return [{ type: 'workflow.archived', after: { ...state, status, updatedAt: now } }]
}

function expose(state: WorkflowRecord): WorkflowState {
  const {
    draftDigest: _,
    publishedDigest: _1,
    hookId: _2,
    trigger: _3,
    fence: _4,
    place: _5,
    promotedName: _6,
    ...shown
  } = state
  return shown
}
