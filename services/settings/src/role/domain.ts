import {
  ApiError,
  assertNever,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  type NewRole,
  notFound,
  type RolePatch,
  type RoleState,
} from '@opsplane/contracts'

export interface CreateRole extends NewRole {
  kind: 'create'
  id: string
  now: Instant
}

export interface UpdateRole {
  kind: 'update'
  patch: RolePatch
  now: Instant
}

export interface DeleteRole {
  kind: 'delete'
  /** How many users have the role. */
  members: number
}

export type RoleCommand = CreateRole | UpdateRole | DeleteRole

/** A role a workspace has made for itself. Its name is what users are said to have, so it never changes. */
export const role: Decider<RoleState, RoleCommand> = {
  resourceType: 'role',
  table: 'roles',
  decide,
  expose: (state) => state,
  describe: (state) => ({ displayName: state.name }),
}

function decide(command: RoleCommand, state: RoleState | null): Decision<RoleState>[] {
  if (command.kind === 'create') return create(command, state)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'update':
      return update(command, state)
    case 'delete':
      return remove(command)
    default:
      return assertNever(command)
  }
}

function create({ kind: _, now, ...fields }: CreateRole, existing: RoleState | null) {
  if (existing !== null) throw new ApiError('conflict', 'A role with this id exists already.')
  return [{ type: 'role.created', after: { ...fields, createdAt: now, updatedAt: now } }]
}

/** A patch that changes nothing is no event. */
function update({ patch, now }: UpdateRole, state: RoleState) {
  const description = patch.description ?? state.description
  const after = { ...state, description, permissions: patch.permissions ?? state.permissions }
  if (changedFields(state, after).length === 0) return []
  return [{ type: 'role.updated', after: { ...after, updatedAt: now } }]
}

function remove({ members }: DeleteRole) {
  if (members === 0) return [{ type: 'role.deleted', after: null }]
  const message = `${members} ${members === 1 ? 'user has' : 'users have'} this role. Give them another one first.`
  throw new ApiError('conflict', message, {
    details: [{ in: 'body', path: '', code: 'role_in_use', message, params: { members } }],
  })
}
