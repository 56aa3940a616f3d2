import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type AuditEvent, apiPath } from '../../api/api.js'
import { type EventFilters, readEvents } from '../../api/queries.js'
import { exactTime } from '../../format/times.js'
import { type Column, List } from '../../patterns/list.js'
import { PageHead } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { Time } from '../../patterns/time.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { ResourceName } from '../events/resource-name.js'
import { FilterText, NothingMatches } from '../filters.js'
import type { AuditSearch } from '../search.js'
import { ChainCheck } from './chain-check.js'
import { Export } from './export.js'

const route = getRouteApi('/w/$workspace/$environment/audit')
const words = texts.audit
const typePattern = /^(\*|[a-z0-9_.]+(\.\*)?)$/
const instantPattern = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/** The audit log: who did what, from where, and whether the log is intact. */
export function Audit() {
  const { place } = usePlace()
  const { type, resource, kind, actor, address, from, to } = route.useSearch()
  const filters: EventFilters = {
    ...{ type, resourceId: resource, resourceType: kind, actor, address, from, to },
  }
  const view = useList<AuditEvent>({
    queryKey: [place.workspace, place.environment, 'events', 'audit', filters],
    read: (after, signal) => readEvents(place, filters, after as string | undefined, signal),
    keyOf: ({ id }) => id,
  })
  const isFiltered = Object.values(filters).some((filter) => filter !== undefined)
  return (
    <>
      <PageHead title={words.title} request={{ path: `${apiPath}/audit`, query: { ...filters } }}>
        <Export filters={filters} />
      </PageHead>
      <ChainCheck />
      <Filters />
      <List
        label={words.title}
        view={view}
        columns={columns}
        keyOf={({ id }) => id}
        linkOf={({ id }) => ({
          to: '/w/$workspace/$environment/events/$eventId',
          params: { ...place, eventId: id },
        })}
        selected={undefined}
        closed={{ to: '/w/$workspace/$environment/audit', params: place, search: true }}
        empty={
          isFiltered ? (
            <NothingMatches title={texts.events.emptyFiltered} />
          ) : (
            <Empty title={texts.events.empty} />
          )
        }
      />
    </>
  )
}

const fields: readonly (readonly [name: keyof AuditSearch, label: string, pattern?: RegExp])[] = [
  ['type', words.type, typePattern],
  ['actor', words.actor],
  ['address', words.address],
  ['kind', words.kind],
  ['resource', words.resource],
  ['from', words.from, instantPattern],
  ['to', words.to, instantPattern],
]

function Filters() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const filter = (name: keyof AuditSearch, value: string | undefined) => {
    const present = Object.entries({ ...search, [name]: value }).filter(([, each]) => each !== undefined)
    void navigate({ to: '.', search: Object.fromEntries(present), replace: true })
  }
  return (
    <div className="filters">
      {fields.map(([name, label, pattern]) => (
        <FilterText
          key={name}
          label={label}
          placeholder={label}
          value={search[name]}
          {...(pattern && { pattern, wrong: words.wrong })}
          onChange={(value) => filter(name, value)}
        />
      ))}
    </div>
  )
}

const columns: Column<AuditEvent>[] = [
  {
    id: 'seq',
    head: words.seq,
    width: '72px',
    cell: ({ seq }) => <span className="muted number">#{seq}</span>,
  },
  {
    id: 'actor',
    head: words.actor,
    width: 'minmax(110px, 0.8fr)',
    narrow: 'state',
    cell: ({ actor }) => <span className="ellipsis">{actor.name}</span>,
  },
  {
    id: 'type',
    head: words.type,
    width: 'minmax(160px, 1fr)',
    narrow: 'title',
    cell: ({ type }) => type,
  },
  {
    id: 'resource',
    head: words.resource,
    width: 'minmax(160px, 1.4fr)',
    narrow: 'meta',
    cell: (event) => <ResourceName event={event} />,
  },
  {
    id: 'address',
    head: words.address,
    width: 'minmax(110px, 0.6fr)',
    cell: ({ source }) => <span className="ellipsis muted mono">{source?.address}</span>,
  },
  {
    id: 'at',
    head: texts.events.when,
    width: '216px',
    narrow: 'time',
    cell: ({ createdAt }) => (
      <>
        <span className="muted number ellipsis only-wide">{exactTime(createdAt)}</span>
        <span className="muted number only-narrow">
          <Time at={createdAt} />
        </span>
      </>
    ),
  },
]
