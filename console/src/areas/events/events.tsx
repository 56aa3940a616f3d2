import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { memo } from 'react'
import { type AuditEvent, apiPath } from '../../api/api.js'
import { pageSize, readEvents } from '../../api/queries.js'
import { useCommand } from '../../patterns/curl.js'
import { type Column, List, whenColumn } from '../../patterns/list.js'
import { PageHead, Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FilterText, NothingMatches } from '../filters.js'
import type { EventSearch } from '../search.js'
import { ResourceName } from './resource-name.js'

const route = getRouteApi('/w/$workspace/$environment/events')
const words = texts.events
const typePattern = /^(\*|[a-z0-9_.]+(\.\*)?)$/

/** All events of the place, as the audit log records them. */
export function Events() {
  const { place } = usePlace()
  const { type, resource, request, actor } = route.useSearch()
  const { eventId } = useParams({ strict: false })
  const filters = { type, resourceId: resource, requestId: request, actor }
  const view = useList<AuditEvent>({
    queryKey: [place.workspace, place.environment, 'events', filters],
    read: (after, signal) => readEvents(place, filters, after as string | undefined, signal),
    keyOf: ({ id }) => id,
  })
  const isFiltered = Object.values(filters).some((filter) => filter !== undefined)
  const shown = { path: `${apiPath}/audit`, query: { ...filters, limit: String(pageSize) } }
  return (
    <>
      <PageHead title={words.title} request={shown} />
      <Split isOpen={eventId !== undefined} hint={words.select}>
        <Filters />
        <List
          label={words.title}
          view={view}
          columns={columns}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({
            ...{ to: '/w/$workspace/$environment/events/$eventId', params: { ...place, eventId: id } },
            search: true,
          })}
          selected={eventId}
          closed={{ to: '/w/$workspace/$environment/events', params: place, search: true }}
          empty={isFiltered ? <NothingMatches title={words.emptyFiltered} /> : <NoEvents />}
        />
      </Split>
    </>
  )
}

function NoEvents() {
  const command = useCommand({
    method: 'POST',
    path: `${apiPath}/itsm/incidents`,
    body: { title: 'Disk full' },
  })
  return <Empty title={words.empty} help={words.emptyHelp} command={command} />
}

/** Memoized, so that it does not render again for each opened row. */
const Filters = memo(function Filters() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const filter = (change: { [Name in keyof EventSearch]?: string | undefined }) => {
    const present = Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined)
    void navigate({ to: '.', search: Object.fromEntries(present), replace: true })
  }
  return (
    <div className="filters">
      <FilterText
        label={words.type}
        placeholder={words.type}
        value={search.type}
        pattern={typePattern}
        wrong={words.badType}
        onChange={(type) => filter({ type })}
      />
      <FilterText
        label={words.resourceId}
        placeholder={words.resourceId}
        value={search.resource}
        onChange={(resource) => filter({ resource })}
      />
      <FilterText
        label={words.request}
        placeholder={words.request}
        value={search.request}
        onChange={(request) => filter({ request })}
      />
      {search.actor !== undefined && (
        <FilterText
          label={words.actorId}
          placeholder={words.actorId}
          value={search.actor}
          onChange={(actor) => filter({ actor })}
        />
      )}
    </div>
  )
})

const columns: Column<AuditEvent>[] = [
  {
    id: 'type',
    head: words.type,
    width: 'minmax(150px, 0.9fr)',
    narrow: 'title',
    cell: ({ type }) => type,
  },
  {
    id: 'resource',
    head: words.resource,
    width: 'minmax(160px, 1.5fr)',
    narrow: 'meta',
    cell: (event) => <ResourceName event={event} />,
  },
  {
    id: 'actor',
    head: words.actor,
    width: 'minmax(100px, 0.7fr)',
    cell: ({ actor }) => <span className="ellipsis muted">{actor.name}</span>,
  },
  whenColumn(words.when),
]
