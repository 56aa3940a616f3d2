import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { createApi, type User } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Choice, useChange } from './form.js'
import { InvitationLink } from './invite.js'
import { rolesQuery } from './queries.js'
import { RemoveUser } from './remove-user.js'

const words = texts.people.users

/** Actions of the caller on a user; the API lists the permitted ones for each user. */
export function UserActions({ user }: { user: User }) {
  const { place, may } = usePlace()
  const [isRemoving, setRemoving] = useState(false)
  const path = { id: user.id }
  const patch = useChange((body: { status: 'active' | 'suspended' } | { role: string }) =>
    createApi(place).patch('/settings/users/{id}', { params: { path }, body }),
  )
  const invite = useChange(() =>
    createApi(place).post('/settings/users/invite', { body: { email: user.email, role: user.role } }),
  )
  const can = (action: User['allowedActions'][number]) => user.allowedActions.includes(action)
  if (user.allowedActions.length === 0) return null
  if (isRemoving) return <RemoveUser user={user} onClose={() => setRemoving(false)} />
  return (
    <section className="panel">
      {can('change_role') && may('roles:read') && (
        <RoleChoice user={user} onChange={(role) => patch.mutate({ role })} />
      )}
      {patch.isSuccess && <p role="status">{words.roleChanged(patch.data.data.role)}</p>}
      <Refusal error={patch.error ?? invite.error} />
      {invite.data && <InvitationLink {...invite.data.data} />}
      <span className="row wrap">
        {can('invite') && (
          <Button
            size="xs"
            variant="default"
            loading={invite.isPending}
            onClick={() => invite.mutate(undefined)}
          >
            {words.inviteAgain}
          </Button>
        )}
        {can('reactivate') && (
          <Button size="xs" loading={patch.isPending} onClick={() => patch.mutate({ status: 'active' })}>
            {words.reactivate}
          </Button>
        )}
        {can('suspend') && (
          <Confirm
            label={words.suspend}
            question={words.suspendAsk(user.name || user.email)}
            isBusy={patch.isPending}
            onConfirm={() => patch.mutate({ status: 'suspended' })}
          />
        )}
        {can('remove') && (
          <Button size="xs" variant="default" onClick={() => setRemoving(true)}>
            {words.remove}
          </Button>
        )}
      </span>
    </section>
  )
}

function RoleChoice({ user, onChange }: { user: User; onChange(role: string): void }) {
  const { place, may } = usePlace()
  const { data: roles = [] } = useQuery(rolesQuery(place))
  const [role, setRole] = useState(user.role)
  const options = roles.filter(({ name, permissions }) => name === user.role || permissions.every(may))
  return (
    <div className="row end">
      <Choice
        label={words.role}
        value={role}
        options={options.map(({ name }) => [name, name])}
        onChange={setRole}
      />
      <Button size="xs" variant="default" disabled={role === user.role} onClick={() => onChange(role)}>
        {words.changeRole}
      </Button>
    </div>
  )
}
