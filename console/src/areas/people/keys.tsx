import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { type ApiKey, apiPath } from '../../api/api.js'
import { useCommand } from '../../patterns/curl.js'
import { type Column, List } from '../../patterns/list.js'
import { Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { Sign, type Tone } from '../../patterns/state.js'
import { Time } from '../../patterns/time.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NothingMatches, Tabs } from '../filters.js'
import { NewButton, PeopleHead } from './head.js'
import { membersQuery, peopleKey, readKeys } from './queries.js'
import { keyStatuses } from './search.js'

const route = getRouteApi('/w/$workspace/$environment/people/keys')
const words = texts.people.keys
const listed = '/w/$workspace/$environment/people/keys'

const tones: Record<ApiKey['status'], Tone> = { active: 'good', rotated: 'warn', revoked: 'idle' }
export const KeyStatus = ({ status }: Pick<ApiKey, 'status'>) => (
  <Sign tone={tones[status]}>{words.states[status]}</Sign>
)

/** Returns a function that maps a user id to a name; an unknown id is returned unchanged. */
export function useMemberName(): (id: string) => string {
  const { place, may } = usePlace()
  const { data = [] } = useQuery({ ...membersQuery(place), enabled: may('users:read') })
  const names = new Map(data.map(({ id, name, email }) => [id, name || email]))
  return (id) => names.get(id) ?? id
}

/** The API keys of the person, or of all users. */
export function Keys() {
  const { place } = usePlace()
  const search = route.useSearch()
  const { keyId } = useParams({ strict: false })
  const isMaking = useLocation().pathname.endsWith('/keys/new')
  const nameOf = useMemberName()
  const view = useList<ApiKey>({
    queryKey: [...peopleKey(place), 'keys', search],
    read: (after, signal) => readKeys(place, search, after, signal),
    keyOf: ({ id }) => id,
  })
  const path = search.whose === 'all' ? `${apiPath}/settings/tokens` : `${apiPath}/auth/tokens`
  return (
    <>
      <PeopleHead request={{ path, query: search.status ? { status: search.status } : {} }}>
        <NewButton
          label={words.create}
          form={{ to: '/w/$workspace/$environment/people/keys/new', params: place, search: true }}
        />
      </PeopleHead>
      <Split isOpen={keyId !== undefined || isMaking} hint={words.select}>
        <KeyFilters />
        <List
          label={texts.people.tabs.keys}
          view={view}
          columns={columnsOf(search.whose === 'all' ? nameOf : undefined)}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({
            ...{ to: '/w/$workspace/$environment/people/keys/$keyId', params: { ...place, keyId: id } },
            search: true,
          })}
          selected={keyId}
          closed={{ to: listed, params: place, search: true }}
          empty={
            search.status === undefined ? (
              <NoKeys />
            ) : (
              <NothingMatches title={texts.people.users.emptyFiltered} />
            )
          }
        />
      </Split>
    </>
  )
}

function NoKeys() {
  const command = useCommand({
    method: 'POST',
    path: `${apiPath}/auth/tokens`,
    body: { name: 'monitoring', scopes: ['itsm:read'], environments: ['production'] },
  })
  return <Empty title={words.empty} help={words.emptyHelp} command={command} />
}

function KeyFilters() {
  const { may } = usePlace()
  const search = route.useSearch()
  const navigate = useNavigate()
  if (!may('credentials:manage')) return null
  const ownerFilters = ['mine', 'all'] as const
  return (
    <div className="filters">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset draws its own box, which these buttons must not have. */}
      <div className="tabs" role="group" aria-label={words.owner}>
        {ownerFilters.map((each) => (
          <button
            key={each}
            type="button"
            className="tab"
            aria-pressed={(search.whose ?? 'mine') === each}
            onClick={() =>
              void navigate({ to: '.', search: each === 'all' ? { whose: each } : {}, replace: true })
            }
          >
            {each === 'all' ? words.all : words.mine}
          </button>
        ))}
      </div>
      {search.whose === 'all' && (
        <Tabs
          label={texts.people.state}
          value={search.status}
          options={keyStatuses.map((status) => [status, words.states[status]])}
          onChange={(status) =>
            void navigate({ to: '.', search: { whose: 'all', ...(status && { status }) }, replace: true })
          }
        />
      )}
    </div>
  )
}

const columnsOf = (nameOf: ((id: string) => string) | undefined): Column<ApiKey>[] => [
  {
    id: 'state',
    head: texts.people.state,
    width: '96px',
    narrow: 'state',
    cell: (key) => <KeyStatus {...key} />,
  },
  {
    id: 'name',
    head: texts.people.name,
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ name }) => name,
  },
  ...(nameOf === undefined
    ? []
    : [
        {
          id: 'owner',
          head: words.owner,
          width: 'minmax(120px, 1fr)',
          cell: ({ userId }: ApiKey) => <span className="ellipsis muted">{nameOf(userId)}</span>,
        },
      ]),
  {
    id: 'scopes',
    head: words.scopes,
    width: 'minmax(120px, 1fr)',
    narrow: 'meta',
    cell: ({ scopes }) => <span className="mono muted ellipsis">{scopes.join(' ')}</span>,
  },
  {
    id: 'changed',
    head: words.lastUsed,
    width: '96px',
    narrow: 'time',
    cell: ({ lastUsedAt }) => (
      <span className="muted number">{lastUsedAt ? <Time at={lastUsedAt} /> : words.never}</span>
    ),
  },
]
