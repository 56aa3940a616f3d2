import {
  buildFailures,
  deliveryAt,
  deliveryDetail,
  executionAt,
  replayAt,
  runAt,
  webhookAt,
} from './deliveries.js'
import { eventAt, eventTypeAt, topicEventAt } from './events.js'
import * as people from './people.js'
import { deadLetterAt, platformStatus, workspaceStatus } from './platform.js'
import {
  buildId,
  findIndex,
  meta,
  type Schemas,
  type StubAnswers,
  type StubRequest,
  type StubRows,
  toPage,
} from './states.js'

/** Paths that are missing in the client's document, or whose response is shown unchanged. */
interface OtherAnswers {
  '/executions/failures': (request: StubRequest) => { data: Schemas['FailureGroup'][] }
  '/executions': (request: StubRequest) => { data: Schemas['Execution'][] }
  '/itsm/incidents/{id}': (request: StubRequest) => { data: object }
}

/** Responses of the API with `count` rows in each list. */
export function buildAnswers({
  count,
  isLong,
}: StubRows): Omit<StubAnswers, keyof OtherAnswers> & OtherAnswers {
  const few = Math.min(count, 5)
  const list =
    <Row>(make: (index: number, isLong: boolean) => Row, maxRows = count) =>
    ({ query }: { query: URLSearchParams }) =>
      toPage(query, Math.min(count, maxRows), (index) => make(index, isLong))
  const failures =
    (kind: 'deliveries' | 'runs' | 'executions', usual: number) =>
    ({ query }: { query: URLSearchParams }) => {
      const groups = buildFailures(kind, count > 100 ? 40 : Math.min(count, usual), isLong)
      return toPage(query, groups.length, (index) => groups[index] as (typeof groups)[number])
    }
  return {
    '/webhooks': list(webhookAt, 200),
    '/webhooks/{id}': ({ parts }) => ({
      ...{ data: { ...webhookAt(1, isLong), id: parts[0] ?? '' }, meta },
    }),
    '/webhooks/{id}/replays': list(replayAt, 3),
    '/deliveries': list(deliveryAt),
    '/deliveries/{id}': ({ parts }) => ({
      ...{ data: deliveryDetail(parts[0] ?? '', count === 1 ? 1 : count > 100 ? 20 : 4, isLong), meta },
    }),
    '/deliveries/failures': failures('deliveries', 3),
    '/runs': list(runAt, 3),
    '/runs/failures': failures('runs', 2),
    '/audit': list(eventAt),
    '/audit/{eventId}': ({ parts: [id = ''] }) => ({
      data: { ...eventAt(findIndex('evt', id), isLong), id },
      meta,
    }),
    '/events/{id}/deliveries': list(deliveryAt, 60),
    '/events/catalog': list(eventTypeAt, 240),
    '/events/catalog/{type}': ({ parts }) => ({
      ...{ data: { ...eventTypeAt(0, isLong), type: parts[0] ?? '' }, meta },
    }),
    '/events/topics/{name}/events': list(topicEventAt, 200),
    '/notifications': list(people.notificationAt),
    '/notifications/{id}': ({ parts }) => ({
      data: { ...people.notificationAt(0, isLong), id: parts[0] ?? '' },
      meta,
    }),
    '/settings/users': list(people.userAt),
    '/settings/users/{id}': ({ parts }) => ({
      data: { ...people.userAt(1, isLong), id: parts[0] ?? '' },
      meta,
    }),
    '/settings/users/{id}/sessions': list(people.sessionAt, 4),
    '/settings/users/{id}/dependents': () => ({ data: { items: [], unanswered: [] }, meta }),
    '/settings/roles': list(people.roleAt, 40),
    '/settings/tokens': list(people.keyAt),
    '/auth/tokens': list(people.keyAt),
    '/secrets': list(people.secretAt),
    '/secrets/{name}': ({ parts }) => ({ data: people.secretDetail(parts[0] ?? '', isLong), meta }),
    '/settings/identity-providers': list(people.providerAt, 8),
    '/settings/sign-in-policy': () => ({ data: { factorRequired: false, factorRoles: ['owner'] }, meta }),
    '/platform/status': () => ({ data: platformStatus({ count, isLong }), meta }),
    '/platform/dead-letters': list(deadLetterAt),
    '/workspaces/{slug}/status': () => ({ data: workspaceStatus({ count, isLong }), meta }),
    '/resolve/{id}': ({ parts }) => ({
      data: {
        ...{ id: parts[0] ?? '', type: 'incident', title: 'Checkout returns 502 for EU' },
        ...{ href: `/itsm/incidents/${parts[0]}`, eventsHref: `/audit?resourceId=${buildId('inc', 3)}` },
      },
      meta,
    }),
    '/auth/sessions': list(people.sessionAt, few),
    '/auth/factors': () => ({
      data: { factors: [], passkeys: { available: true, reason: null }, recoveryCodesLeft: 0 },
      meta,
    }),
    '/executions/failures': failures('executions', 1),
    '/executions': list(executionAt, 3),
    '/itsm/incidents/{id}': ({ parts }) => ({
      data: { ...eventAt(1, isLong).data.after, id: parts[0] ?? '' },
    }),
    '/auth/identities': () => ({ data: { identities: [] }, meta }),
  }
}
