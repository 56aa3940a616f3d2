import type { PlatformEvent } from './event.js'

/** Names of everything on the NATS server. A prefix keeps several installations apart on one server. */
export function natsNames(prefix = '') {
  const dotted = prefix === '' ? '' : `${prefix}.`
  const stream = (name: string) => (prefix === '' ? name : `${prefix.toUpperCase()}_${name}`)
  return {
    eventsStream: stream('PLATFORM_EVENTS'),
    eventSubjects: `${dotted}evt.>`,
    /** `evt.<workspaceId>.<environment>.<type>` */
    eventSubject: (event: Pick<PlatformEvent, 'workspaceId' | 'environment' | 'type'>) =>
      `${dotted}evt.${event.workspaceId}.${event.environment}.${event.type}`,
    topicsStream: stream('TOPICS'),
    topicSubjects: `${dotted}bus.>`,
    topicSubject: (workspaceId: string, environment: string, topic: string) =>
      `${dotted}bus.${workspaceId}.${environment}.${topic}`,
  }
}
export type NatsNames = ReturnType<typeof natsNames>
