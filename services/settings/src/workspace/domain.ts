import {
  alreadyExists,
  assertNever,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  noSignInPolicy,
  notFound,
  type SignInPolicy,
  type WorkspacePatch,
  type WorkspaceSettings,
  type WorkspaceState,
} from '@opsplane/contracts'

export interface CreateWorkspace {
  kind: 'create'
  id: string
  slug: string
  name: string
  now: Instant
}

export interface UpdateWorkspace {
  kind: 'update'
  patch: WorkspacePatch
  now: Instant
}

export interface SetSignInPolicy {
  kind: 'set_sign_in_policy'
  policy: SignInPolicy
  now: Instant
}

export type WorkspaceCommand = CreateWorkspace | UpdateWorkspace | SetSignInPolicy

export const defaultSettings: WorkspaceSettings = { timezone: 'UTC', executionRetentionDays: 90 }

/** A workspace is its own tenant: its events and its row are stored under its own id. */
export const workspace: Decider<WorkspaceState, WorkspaceCommand> = {
  resourceType: 'workspace',
  table: 'workspaces',
  decide,
  // Workspaces stored before policies existed have none.
  expose: (state) => ({ ...state, signIn: state.signIn ?? noSignInPolicy }),
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: WorkspaceCommand, state: WorkspaceState | null): Decision<WorkspaceState>[] {
  switch (command.kind) {
    case 'create':
      return create(command, state)
    case 'update':
      return update(command, state)
    case 'set_sign_in_policy':
      return setSignInPolicy(command, state)
    default:
      return assertNever(command)
  }
}

function create({ id, slug, name, now }: CreateWorkspace, existing: WorkspaceState | null) {
  if (existing !== null) throw alreadyExists('workspace')
  const after = {
    id,
    slug,
    name,
    settings: defaultSettings,
    signIn: noSignInPolicy,
    createdAt: now,
    updatedAt: now,
  }
  return [{ type: 'workspace.created', after }]
}

/** Replaces the given fields, also within the settings. A patch without changes emits no event. */
function update({ patch, now }: UpdateWorkspace, state: WorkspaceState | null) {
  if (state === null) throw notFound()
  const settings = {
    timezone: patch.settings?.timezone ?? state.settings.timezone,
    executionRetentionDays: patch.settings?.executionRetentionDays ?? state.settings.executionRetentionDays,
  }
  const after = { ...state, name: patch.name ?? state.name, settings }
  if (changedFields(state, after).length === 0) return []
  return [{ type: 'workspace.updated', after: { ...after, updatedAt: now } }]
}

function setSignInPolicy({ policy, now }: SetSignInPolicy, state: WorkspaceState | null) {
  if (state === null) throw notFound()
  const after = { ...state, signIn: policy }
  if (changedFields(state, after).length === 0) return []
  return [{ type: 'workspace.updated', after: { ...after, updatedAt: now } }]
}
