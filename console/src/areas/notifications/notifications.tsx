import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { apiPath, createApi, type Notification } from '../../api/api.js'
import { type Column, List, whenColumn } from '../../patterns/list.js'
import { DetailBody, DetailHead, Facts, PageHead, Split } from '../../patterns/page.js'
import { Empty } from '../../patterns/problem.js'
import { Sign, type Tone } from '../../patterns/state.js'
import { ExactTime } from '../../patterns/time.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NothingMatches, Tabs } from '../filters.js'
import { notificationQuery, peopleKey, readNotifications } from '../people/queries.js'

const route = getRouteApi('/w/$workspace/$environment/notifications')
const pageRoute = getRouteApi('/w/$workspace/$environment/notifications/$notificationId')
const words = texts.people.notifications
const listed = '/w/$workspace/$environment/notifications'

const tones: Record<Notification['severity'], Tone> = { info: 'idle', warning: 'warn', critical: 'bad' }
const Severity = ({ of }: { of: Notification['severity'] }) => (
  <Sign tone={tones[of]}>{words.severities[of]}</Sign>
)

/** Automatic actions of the platform that a person should check, and requests to the person. */
export function Notifications() {
  const { place } = usePlace()
  const search = route.useSearch()
  const navigate = useNavigate()
  const { notificationId } = useParams({ strict: false })
  const view = useList<Notification>({
    queryKey: [...peopleKey(place), 'notifications', search],
    read: (after, signal) => readNotifications(place, search, after, signal),
    keyOf: ({ id }) => id,
  })
  return (
    <>
      <PageHead title={words.title} request={{ path: `${apiPath}/notifications`, query: { ...search } }} />
      <Split isOpen={notificationId !== undefined} hint={words.select}>
        <div className="filters">
          <Tabs
            label={texts.people.state}
            value={search.unread}
            options={[
              ['true', words.unread],
              ['false', words.read],
            ]}
            onChange={(unread) => void navigate({ to: '.', search: unread ? { unread } : {}, replace: true })}
          />
        </div>
        <List
          label={words.title}
          view={view}
          columns={columns}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({
            to: '/w/$workspace/$environment/notifications/$notificationId',
            params: { ...place, notificationId: id },
            search: true,
          })}
          selected={notificationId}
          closed={{ to: listed, params: place, search: true }}
          empty={
            search.unread === undefined ? (
              <Empty title={words.empty} help={words.emptyHelp} />
            ) : (
              <NothingMatches title={words.emptyFiltered} />
            )
          }
        />
      </Split>
    </>
  )
}

const columns: Column<Notification>[] = [
  {
    id: 'state',
    head: words.severity,
    width: '96px',
    narrow: 'state',
    cell: ({ severity }) => <Severity of={severity} />,
  },
  {
    id: 'what',
    head: words.what,
    width: 'minmax(180px, 2fr)',
    narrow: 'title',
    cell: ({ title, readAt }) => <span className={readAt === null ? 'unread' : undefined}>{title}</span>,
  },
  {
    id: 'about',
    head: words.about,
    width: 'minmax(120px, 1fr)',
    narrow: 'meta',
    cell: ({ resource }) => (
      <span className="ellipsis muted" dir="auto">
        {resource.displayName}
      </span>
    ),
  },
  whenColumn(texts.events.when),
]

/** A notification is marked as read when it is opened. */
export function NotificationPage() {
  const { place } = usePlace()
  const queries = useQueryClient()
  const { notificationId: id } = pageRoute.useParams()
  const query = useQuery(notificationQuery(place, id))
  const isUnread = query.data?.readAt === null
  useEffect(() => {
    if (!isUnread) return
    // If this fails, the notification stays unread, which is harmless.
    void createApi(place)
      .post('/notifications/{id}/read', { params: { path: { id } } })
      .then(
        () => queries.invalidateQueries({ queryKey: peopleKey(place) }),
        () => undefined,
      )
  }, [isUnread, id, place, queries])
  return (
    <>
      <DetailHead title={query.data?.title ?? ''} closed={{ to: listed, params: place, search: true }} />
      <DetailBody query={query}>
        {({ severity, message, type, resource, eventId, createdAt, readAt }) => (
          <>
            <div className="story">
              <Severity of={severity} />
              <p>{message}</p>
            </div>
            <Facts
              facts={[
                [
                  words.about,
                  <span key="about" className="ellipsis" dir="auto">
                    {resource.displayName}
                  </span>,
                ],
                [
                  texts.events.type,
                  <Link
                    key="event"
                    className="link"
                    to="/w/$workspace/$environment/events/$eventId"
                    params={{ ...place, eventId }}
                  >
                    {type}
                  </Link>,
                ],
                [texts.events.when, <ExactTime key="when" at={createdAt} />],
                [words.readAt, readAt && <ExactTime key="read" at={readAt} />],
              ]}
            />
          </>
        )}
      </DetailBody>
    </>
  )
}
