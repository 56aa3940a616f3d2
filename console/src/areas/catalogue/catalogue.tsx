import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { apiPath, type EventDescription } from '../../api/api.js'
import { readEventTypes } from '../../api/audit-queries.js'
import { type Column, List } from '../../patterns/list.js'
import { PageHead, Split } from '../../patterns/page.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FilterText, NothingMatches } from '../filters.js'

const route = getRouteApi('/w/$workspace/$environment/catalogue')
const words = texts.catalogue

/** All event types that can be subscribed to. */
export function Catalogue() {
  const { place } = usePlace()
  const navigate = useNavigate()
  const { type } = route.useSearch()
  const { eventType } = useParams({ strict: false })
  const view = useList<EventDescription>({
    queryKey: [place.workspace, place.environment, 'catalogue', type],
    read: (after, signal) => readEventTypes(place, type, after as string | undefined, signal),
    keyOf: (each) => each.type,
  })
  return (
    <>
      <PageHead title={words.title} request={{ path: `${apiPath}/events/catalog`, query: { type } }} />
      <Split isOpen={eventType !== undefined} hint={words.select}>
        <div className="filters">
          <FilterText
            label={words.type}
            placeholder={words.pattern}
            value={type}
            onChange={(next) =>
              void navigate({ to: '.', search: next === undefined ? {} : { type: next }, replace: true })
            }
          />
        </div>
        <List
          label={words.title}
          view={view}
          columns={columns}
          keyOf={(each) => each.type}
          linkOf={(each) => ({
            ...{
              to: '/w/$workspace/$environment/catalogue/$eventType',
              params: { ...place, eventType: each.type },
            },
            search: true,
          })}
          selected={eventType}
          closed={{ to: '/w/$workspace/$environment/catalogue', params: place, search: true }}
          empty={<NothingMatches title={words.empty} />}
        />
      </Split>
    </>
  )
}

const columns: Column<EventDescription>[] = [
  {
    id: 'type',
    head: words.type,
    width: 'minmax(180px, 1fr)',
    narrow: 'title',
    cell: ({ type }) => type,
  },
  {
    id: 'description',
    head: words.description,
    width: 'minmax(160px, 1.6fr)',
    narrow: 'meta',
    cell: ({ description }) => <span className="ellipsis muted">{description}</span>,
  },
  {
    id: 'group',
    head: words.group,
    width: 'minmax(96px, 0.5fr)',
    narrow: 'time',
    cell: ({ group }) => <span className="ellipsis muted">{group}</span>,
  },
]
