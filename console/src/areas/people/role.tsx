import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { createApi, type Role } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { Confirm } from '../../patterns/confirm.js'
import { useDraft } from '../../patterns/draft.js'
import { DetailBody, DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { Field } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { SubmitForm, useChange } from './form.js'
import { membersQuery, rolesQuery } from './queries.js'
import { comparePermissions, formatSome, type RoleChange } from './role-change.js'
import { RolePermissions } from './role-permissions.js'
import { everyPermission } from './roles.js'

const route = getRouteApi('/w/$workspace/$environment/people/roles/$roleName')
const words = texts.people.roles
const listed = '/w/$workspace/$environment/people/roles'

/** A role: its permissions, its members, and the effect of a change on them. */
export function RolePage() {
  const { place } = usePlace()
  const { roleName } = route.useParams()
  const { data: roles, error, refetch } = useQuery(rolesQuery(place))
  const role = roles && (roles.find(({ name }) => name === roleName) ?? null)
  return (
    <>
      <DetailHead title={roleName} closed={{ to: listed, params: place }} />
      <DetailBody query={{ data: role, error, refetch }}>
        {(shown) => <RoleForm key={shown.name} role={shown} all={everyPermission(roles ?? [])} />}
      </DetailBody>
    </>
  )
}

function RoleForm({ role, all }: { role: Role; all: Role['permissions'] }) {
  const { place, may } = usePlace()
  const navigate = useNavigate()
  const path = { name: role.name }
  const [draft, change, clear] = useDraft('role', {
    description: role.description,
    permissions: role.permissions,
  })
  const save = useChange((body: { description: string; permissions: Role['permissions'] }) =>
    createApi(place).patch('/settings/roles/{name}', { params: { path }, body }),
  )
  const remove = useChange(() => createApi(place).delete('/settings/roles/{name}', { params: { path } }))
  const isOwn = !role.builtIn && may('roles:write')
  const changed = comparePermissions(role.permissions, draft.permissions)
  const isChanged =
    changed.removed.length + changed.added.length > 0 || draft.description !== role.description
  const submit = () => save.mutate(draft, { onSuccess: clear })
  const leave = () => void navigate({ to: listed, params: place })
  return (
    <div className="panel">
      {!isOwn && <p>{role.description}</p>}
      {role.builtIn && <p className="muted">{words.builtIn}</p>}
      {isOwn ? (
        <SubmitForm
          label={words.save}
          change={save}
          onSubmit={submit}
          end={
            <>
              {isChanged && (
                <Button size="xs" variant="default" onClick={clear}>
                  {words.discard}
                </Button>
              )}
              {save.isSuccess && !isChanged && (
                <span className="state-good" role="status">
                  {words.saved}
                </span>
              )}
            </>
          }
        >
          <Field
            label={words.description}
            name="description"
            value={draft.description}
            error={fieldErrors(save.error).description}
            maxLength={500}
            onChange={({ currentTarget: { value } }) => change({ description: value })}
          />
          <RolePermissions
            all={all}
            allowed={draft.permissions}
            onChange={(permissions) => change({ permissions })}
          />
          <Consequences role={role} change={changed} />
        </SubmitForm>
      ) : (
        <RolePermissions all={all} allowed={role.permissions} />
      )}
      {isOwn && (
        <footer className="panel-end">
          <Refusal error={remove.error} />
          {role.members > 0 ? (
            <p className="small muted">{words.inUse}</p>
          ) : (
            <Confirm
              label={words.remove}
              question={words.removeAsk(role.name)}
              isBusy={remove.isPending}
              onConfirm={() => remove.mutate(undefined, { onSuccess: leave })}
            />
          )}
        </footer>
      )}
    </div>
  )
}

/** Preview before saving: the permissions that a change removes and adds, and the affected members. */
function Consequences({ role, change: { removed, added } }: { role: Role; change: RoleChange }) {
  const { place, may } = usePlace()
  const { data: members = [] } = useQuery({
    ...membersQuery(place, role.name),
    enabled: may('users:read') && role.members > 0,
  })
  if (removed.length + added.length === 0) return null
  const concerned = members
    .filter(({ status }) => status !== 'deactivated')
    .map((user) => user.name || user.email)
  const { names, more } = formatSome(concerned)
  const unlistedCount = more + Math.max(role.members - concerned.length, 0)
  return (
    <section className="consequences" aria-live="polite" aria-label={words.change}>
      <h3>{words.change}</h3>
      <p className="row wrap changes">
        {removed.map((permission) => (
          <del key={permission} className="mono" title={words.removed(permission)}>
            {permission}
          </del>
        ))}
        {added.map((permission) => (
          <ins key={permission} className="mono" title={words.added(permission)}>
            {permission}
          </ins>
        ))}
      </p>
      <p>{role.members === 0 ? words.fromNobody : words.from(names, unlistedCount)}</p>
    </section>
  )
}
