import {
  ApiError,
  type Decider,
  type ResourceCommand,
  type RoleState,
  resourceDecider,
} from '@opsplane/contracts'

/** `members`: number of users who have the role to be deleted. */
export type RoleCommand =
  | Exclude<ResourceCommand<RoleState>, { kind: 'delete' }>
  | { kind: 'delete'; members: number }

const resource = resourceDecider<RoleState>({
  resourceType: 'role',
  table: 'roles',
  displayName: ({ name }) => name,
})

/** A custom role of a workspace. Its name never changes, because memberships refer to it. */
export const role: Decider<RoleState, RoleCommand> = {
  ...resource,
  decide(command, state) {
    if (command.kind === 'delete' && command.members > 0) throw inUse(command.members)
    return resource.decide(command, state)
  },
}

function inUse(members: number): ApiError {
  const message = `${members} ${members === 1 ? 'user has' : 'users have'} this role. Change their role first.`
  return new ApiError('conflict', message, {
    details: [{ in: 'body', path: '', code: 'role_in_use', message, params: { members } }],
  })
}
