import {
  ApiError,
  type Decider,
  type ResourceCommand,
  type RoleState,
  resourceDecider,
} from '@opsplane/contracts'

/** `members`: how many users have the role that is to be deleted. */
export type RoleCommand =
  | Exclude<ResourceCommand<RoleState>, { kind: 'delete' }>
  | { kind: 'delete'; members: number }

const resource = resourceDecider<RoleState>({
  resourceType: 'role',
  table: 'roles',
  displayName: ({ name }) => name,
})

/** A role a workspace has made for itself. Its name is what users are said to have, so it never changes. */
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
