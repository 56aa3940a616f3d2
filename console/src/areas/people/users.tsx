import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { apiPath, type User } from '../../api/api.js'
import { type Column, List, whenColumn } from '../../patterns/list.js'
import { Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { Sign, type Tone } from '../../patterns/state.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FilterText, NothingMatches, Tabs } from '../filters.js'
import { NewButton, PeopleHead } from './head.js'
import { peopleKey, readUsers, rolesQuery } from './queries.js'
import { type UserSearch, userStatuses } from './search.js'

const route = getRouteApi('/w/$workspace/$environment/people/users')
const words = texts.people.users

const tones: Record<User['status'], Tone> = {
  ...{ active: 'good', invited: 'warn', suspended: 'bad', deactivated: 'idle' },
}

/** Whether a user has access. */
export const UserStatus = ({ status }: Pick<User, 'status'>) => (
  <Sign tone={tones[status]}>{words.states[status]}</Sign>
)

/** All users of the workspace, including invited and removed ones. */
export function Users() {
  const { place, may } = usePlace()
  const search = route.useSearch()
  const { userId } = useParams({ strict: false })
  const isInviting = useLocation().pathname.endsWith('/users/new')
  const view = useList<User>({
    queryKey: [...peopleKey(place), 'users', search],
    read: (after, signal) => readUsers(place, search, after, signal),
    keyOf: ({ id }) => id,
  })
  const isFiltered = Object.keys(search).length > 0
  return (
    <>
      <PeopleHead request={{ path: `${apiPath}/settings/users`, query: { ...search } }}>
        {may('users:write') && (
          <NewButton
            label={words.invite}
            form={{ to: '/w/$workspace/$environment/people/users/new', params: place, search: true }}
          />
        )}
      </PeopleHead>
      <Split isOpen={userId !== undefined || isInviting} hint={words.select}>
        <UserFilters />
        <List
          label={texts.people.tabs.users}
          view={view}
          columns={columns}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({
            ...{ to: '/w/$workspace/$environment/people/users/$userId', params: { ...place, userId: id } },
            search: true,
          })}
          selected={userId}
          closed={{ to: '/w/$workspace/$environment/people/users', params: place, search: true }}
          empty={isFiltered ? <NothingMatches title={words.emptyFiltered} /> : <Empty title={words.empty} />}
        />
      </Split>
    </>
  )
}

function UserFilters() {
  const { place, may } = usePlace()
  const search = route.useSearch()
  const navigate = useNavigate()
  const { data: roles = [] } = useQuery({ ...rolesQuery(place), enabled: may('roles:read') })
  const filter = (change: Partial<Record<keyof UserSearch, string | undefined>>) => {
    const present = Object.entries({ ...search, ...change }).filter(([, value]) => value)
    void navigate({ to: '.', search: Object.fromEntries(present) as UserSearch, replace: true })
  }
  return (
    <div className="filters">
      <Tabs
        label={texts.people.state}
        value={search.status}
        options={userStatuses.map((status) => [status, words.states[status]])}
        onChange={(status) => filter({ status })}
      />
      <NativeSelect
        size="xs"
        aria-label={words.role}
        value={search.role ?? ''}
        onChange={({ currentTarget: { value } }) => filter({ role: value })}
        data={[
          { value: '', label: words.allRoles },
          ...roles.map(({ name }) => ({ value: name, label: name })),
        ]}
      />
      <FilterText
        label={words.search}
        placeholder={words.search}
        value={search.q}
        onChange={(q) => filter({ q })}
      />
    </div>
  )
}

const columns: Column<User>[] = [
  {
    id: 'state',
    head: texts.people.state,
    width: '108px',
    narrow: 'state',
    cell: (user) => <UserStatus {...user} />,
  },
  {
    id: 'name',
    head: texts.people.name,
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ name, email }) => name || email,
  },
  {
    id: 'email',
    head: words.email,
    width: 'minmax(140px, 1.2fr)',
    narrow: 'meta',
    cell: ({ email, role }) => (
      <span className="row">
        <span className="ellipsis muted">{email}</span>
        <span className="only-narrow">{role}</span>
      </span>
    ),
  },
  {
    id: 'role',
    head: words.role,
    width: '128px',
    cell: ({ role }) => <span className="ellipsis">{role}</span>,
  },
  whenColumn(words.joined),
]
