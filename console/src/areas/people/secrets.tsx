import { useLocation, useParams } from '@tanstack/react-router'
import { apiPath, type Secret } from '../../api/api.js'
import { useCommand } from '../../patterns/curl.js'
import { type Column, List } from '../../patterns/list.js'
import { Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { Time } from '../../patterns/time.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NewButton, PeopleHead } from './head.js'
import { peopleKey, readSecrets } from './queries.js'

const words = texts.people.secrets
const listed = '/w/$workspace/$environment/people/secrets'

/** The allowed hosts of a secret as text. */
export const hostsText = (hosts: readonly string[]): string =>
  hosts.length === 0 ? words.noHost : hosts.includes('*') ? words.anyHost : hosts.join(', ')

/** Names of the secrets of the environment; no page shows their values. */
export function Secrets() {
  const { place, may } = usePlace()
  const { secretName } = useParams({ strict: false })
  const isMaking = useLocation().pathname.endsWith('/secrets/new')
  const view = useList<Secret>({
    queryKey: [...peopleKey(place), 'secrets'],
    read: (after, signal) => readSecrets(place, after, signal),
    keyOf: ({ id }) => id,
  })
  const selected = view.items.find((secret) => secret?.name === secretName)?.id
  return (
    <>
      <PeopleHead request={{ path: `${apiPath}/secrets` }}>
        {may('secrets:write') && (
          <NewButton
            label={words.create}
            form={{ to: '/w/$workspace/$environment/people/secrets/new', params: place }}
          />
        )}
      </PeopleHead>
      <Split isOpen={secretName !== undefined || isMaking} hint={words.select}>
        <List
          label={texts.people.tabs.secrets}
          view={view}
          columns={columns}
          keyOf={({ id }) => id}
          linkOf={({ name }) => ({
            to: '/w/$workspace/$environment/people/secrets/$secretName',
            params: { ...place, secretName: name },
          })}
          selected={selected}
          closed={{ to: listed, params: place }}
          empty={<NoSecrets />}
        />
      </Split>
    </>
  )
}

function NoSecrets() {
  const command = useCommand({
    method: 'POST',
    path: `${apiPath}/secrets`,
    body: { name: 'payment_api_key', value: '…', hosts: ['api.example.com'] },
  })
  return <Empty title={words.empty} help={words.emptyHelp} command={command} />
}

const columns: Column<Secret>[] = [
  {
    id: 'name',
    head: texts.people.name,
    width: 'minmax(140px, 1fr)',
    narrow: 'title',
    cell: ({ name }) => <span className="mono">{name}</span>,
  },
  {
    id: 'hosts',
    head: words.hosts,
    width: 'minmax(140px, 1fr)',
    narrow: 'meta',
    cell: ({ hosts }) => <span className="ellipsis muted">{hostsText(hosts)}</span>,
  },
  {
    id: 'user',
    head: words.by,
    width: '112px',
    cell: ({ lastUsedBy }) => <span className="ellipsis muted">{lastUsedBy ?? '–'}</span>,
  },
  {
    id: 'attempts',
    head: words.uses,
    width: '64px',
    cell: ({ useCount }) => <span className="number muted">{useCount}</span>,
  },
  {
    id: 'changed',
    head: words.lastUsed,
    width: '96px',
    narrow: 'time',
    cell: ({ lastUsedAt }) => (
      <span className="muted number">{lastUsedAt ? <Time at={lastUsedAt} /> : texts.people.keys.never}</span>
    ),
  },
]
