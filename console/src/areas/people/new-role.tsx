import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createApi, type Role } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { useDraft } from '../../patterns/draft.js'
import { DetailHead, DetailSkeleton } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { Field } from '../../proof/fields.js'
import { texts } from '../../texts/en.js'
import { Choice, SubmitForm, useChange } from './form.js'
import { rolesQuery } from './queries.js'
import { RolePermissions } from './role-permissions.js'
import { everyPermission } from './roles.js'

const words = texts.people.roles
const initial = { name: '', description: '', permissions: [] as Role['permissions'] }

/** Creates a role, either empty or as a copy of an existing one. */
export function NewRole() {
  const { place, may } = usePlace()
  const navigate = useNavigate()
  const { data: roles = [], isPending } = useQuery(rolesQuery(place))
  const [draft, change, clear] = useDraft('role', initial)
  const create = useChange(() => createApi(place).post('/settings/roles', { body: draft }))
  const wrong = fieldErrors(create.error)
  const submit = () =>
    create.mutate(undefined, {
      onSuccess: ({ data: { name } }) => {
        clear()
        void navigate({
          to: '/w/$workspace/$environment/people/roles/$roleName',
          params: { ...place, roleName: name },
        })
      },
    })
  const copy = (name: string) =>
    change({ permissions: (roles.find((role) => role.name === name)?.permissions ?? []).filter(may) })
  return (
    <>
      <DetailHead
        title={words.createTitle}
        closed={{ to: '/w/$workspace/$environment/people/roles', params: place }}
      />
      <div className="detail-body panel">
        {isPending ? (
          <DetailSkeleton />
        ) : (
          <SubmitForm label={words.create} change={create} onSubmit={submit}>
            <Field
              label={texts.people.name}
              help={words.nameHelp}
              name="name"
              value={draft.name}
              placeholder={words.nameLike}
              error={wrong.name}
              maxLength={50}
              required
              autoFocus
              onChange={({ currentTarget: { value } }) => change({ name: value })}
            />
            <Field
              label={words.description}
              name="description"
              value={draft.description}
              error={wrong.description}
              maxLength={500}
              onChange={({ currentTarget: { value } }) => change({ description: value })}
            />
            <Choice
              label={words.copyOf}
              defaultValue=""
              options={[['', words.nothing], ...roles.map(({ name }) => [name, name] as const)]}
              onChange={copy}
            />
            <RolePermissions
              all={everyPermission(roles)}
              allowed={draft.permissions}
              onChange={(permissions) => change({ permissions })}
            />
          </SubmitForm>
        )}
      </div>
    </>
  )
}
