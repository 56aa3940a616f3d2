import {
  changeSignals,
  durableConsumers,
  type NatsNames,
  operator,
  rightsEventTypes,
  type ServiceName,
  serviceNames,
  serviceRegistry,
  topicConsumers,
} from '@opsplane/contracts'
import { userInbox } from './inbox.js'
import { objectStreamName } from './object-bucket.js'

/** A user of the NATS server, and the subjects it may use. */
interface NatsUser {
  user: string
  password: string
  publish: readonly string[]
  subscribe: readonly string[]
}

/** A customer's service that reads the events of one workspace through a dedicated durable. */
export interface NatsSubscriber {
  /** Name of its user, without the prefix `sub_`. */
  name: string
  password: string
  durable: string
}

interface NatsUsersOptions {
  names: NatsNames
  passwords: Readonly<Record<string, string>>
  subscribers?: readonly NatsSubscriber[]
}

/**
 * One user for each service of the registry, one for the operator, and one for each subscriber. Only the operator,
 * who creates and maintains the streams, may change, purge or delete one, or access another user's consumer or
 * inbox (ADR 048).
 */
export function natsUsers({ names, passwords, subscribers = [] }: NatsUsersOptions): NatsUser[] {
  const passwordOf = (user: string) => passwords[user] ?? ''
  return [
    ...serviceNames.map((name) => ({
      user: name,
      password: passwordOf(name),
      ...permissionsOf(name, names),
    })),
    { user: operator, password: passwordOf(operator), publish: ['>'], subscribe: ['>'] },
    ...subscribers.map(({ name, password, durable }) => {
      const user = subscriberUser(name)
      return {
        user,
        password,
        publish: readingOf(names.eventsStream, durable),
        subscribe: [`${userInbox(user)}.>`],
      }
    }),
  ]
}

export const subscriberUser = (name: string) => `sub_${name}`

function permissionsOf(name: ServiceName, names: NatsNames): Pick<NatsUser, 'publish' | 'subscribe'> {
  const inbox = `${userInbox(name)}.>`
  if (!serviceRegistry[name].database) {
    const events = rightsEventTypes.map((kind) => names.eventSubjects.replace('>', `*.*.${kind}.>`))
    return { publish: [], subscribe: [inbox, ...events] }
  }
  const durables = durableConsumers[name] ?? []
  const hints = [name, name.replaceAll('-', '_'), ...durables].map((service) =>
    names.wakeSubject(service, '>'),
  )
  return {
    publish: [
      names.eventSubjects,
      ...makingOf(names.eventsStream),
      ...makingOf(names.topicsStream),
      `$JS.API.STREAM.MSG.GET.${names.eventsStream}`,
      ...durables.flatMap((durable) => consumingOf(names.eventsStream, durable)),
      ...(topicConsumers[name] ?? []).flatMap((durable) => consumingOf(names.topicsStream, durable)),
      ...(name === topicsOwner ? topicsOf(names) : []),
      ...(name === exportsOwner ? objectsOf(names.exportsBucket) : []),
      ...(changeSignals.publishers.includes(name) ? [names.changedSubjects] : []),
      ...hints,
    ],
    subscribe: [inbox, ...(changeSignals.followers.includes(name) ? [names.changedSubjects] : []), ...hints],
  }
}

/** Its long-polls read the topics stream, and everything in that stream was published through it. */
const topicsOwner: ServiceName = 'dispatcher'

const topicsOf = ({ topicsStream, topicSubjects }: NatsNames) => [
  topicSubjects,
  `$JS.API.STREAM.MSG.GET.${topicsStream}`,
  `$JS.API.DIRECT.GET.${topicsStream}`,
  `$JS.API.DIRECT.GET.${topicsStream}.>`,
  // The tail is an ephemeral consumer without a fixed name.
  `$JS.API.CONSUMER.CREATE.${topicsStream}`,
  `$JS.API.CONSUMER.DELETE.${topicsStream}.*`,
]

/** The only service that stores files there. */
const exportsOwner: ServiceName = 'analytics'

/** Permissions to create the bucket, and to put, get and remove objects; not to change or delete the bucket. */
function objectsOf(bucket: string): string[] {
  const stream = objectStreamName(bucket)
  return [
    `$O.${bucket}.>`,
    ...makingOf(stream),
    `$JS.API.STREAM.PURGE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ]
}

/** Permissions to create a missing stream, and to read its state. */
const makingOf = (stream: string) => [`$JS.API.STREAM.CREATE.${stream}`, `$JS.API.STREAM.INFO.${stream}`]

const readingOf = (stream: string, durable: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
  // The subject of servers that put the domain and the account before the stream.
  `$JS.ACK.*.*.${stream}.${durable}.>`,
]

const consumingOf = (stream: string, durable: string) => [
  ...readingOf(stream, durable),
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
]

/** The permissions part of nats-server's configuration. */
export function formatAuthorization(users: readonly NatsUser[]): string {
  const list = (subjects: readonly string[]) =>
    `[${subjects.map((subject) => JSON.stringify(subject)).join(', ')}]`
  return [
    'authorization {',
    '  users: [',
    ...users.flatMap(({ user, password, publish, subscribe }) => [
      `    { user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)}, permissions: {`,
      publish.length > 0 ? `      publish: { allow: ${list(publish)} }` : '      publish: { deny: ">" }',
      `      subscribe: { allow: ${list(subscribe)} }`,
      '    } }',
    ]),
    '  ]',
    '}',
    '',
  ].join('\n')
}

/** The URL, or several separated by commas, with which a user connects to the servers in another user's URL. */
export function buildUserUrl(urls: string, { user, password }: { user: string; password: string }): string {
  const ownOf = (url: string) => {
    const own = new URL(url)
    own.username = encodeURIComponent(user)
    own.password = encodeURIComponent(password)
    return own.href
  }
  return urls.split(',').map(ownOf).join(',')
}
