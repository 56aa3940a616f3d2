import { Environment, type TenantScope } from '../core/principal.js'
import { type PlatformEvent, patternMatches } from './event.js'

/** Headers of a message of the events stream, whose body is the event. */
export const eventHeaders = {
  requestId: 'X-Request-ID',
  /** The event's id, or another one where the stream already knows that. */
  messageId: 'Nats-Msg-Id',
  /** The service whose log the event stands in, named as its schema is. */
  source: 'Opsplane-Source',
  /** The event's position in that log. */
  position: 'Opsplane-Position',
  /** Every event of that log at this position or below was acknowledged by the stream when this one was published. */
  lowWatermark: 'Opsplane-Floor',
  /** The stream of that log that it belongs to, percent-encoded: later events of it wait for this one. Not signed. */
  stream: 'Opsplane-Stream',
  /** By the service that is the source, for each service that checks it: see ADR 049. */
  signature: 'Opsplane-Signature',
  /** W3C Trace Context of the span that has published it, where its request is followed; not signed. */
  traceparent: 'traceparent',
} as const

/** Whose an event is, and of which type. */
export type SubjectEvent = Pick<PlatformEvent, 'workspaceId' | 'environment' | 'type'>

/** Names of everything on the NATS server. A prefix keeps several installations apart on one server. */
export function natsNames(prefix = '') {
  const dotted = prefix === '' ? '' : `${prefix}.`
  const stream = (name: string) => (prefix === '' ? name : `${prefix.toUpperCase()}_${name}`)
  return {
    eventsStream: stream('PLATFORM_EVENTS'),
    eventSubjects: `${dotted}evt.>`,
    /** `evt.<workspaceId>.<environment>.<type>` */
    eventSubject: (event: SubjectEvent) =>
      `${dotted}evt.${event.workspaceId}.${event.environment}.${event.type}`,
    /** What a subject says of its event; undefined for one of another form. */
    subjectEvent(subject: string): SubjectEvent | undefined {
      const [first, workspaceId, environment, ...type] = subject.slice(dotted.length).split('.')
      const known = Environment.options.find((each) => each === environment)
      if (!subject.startsWith(dotted) || first !== 'evt' || !workspaceId || !known || type.length === 0)
        return undefined
      return { workspaceId, environment: known, type: type.join('.') }
    },
    /** What the subjects of everything of one workspace begin with. */
    subjectsOf: (workspaceId: string) => [`${dotted}evt.${workspaceId}.`, `${dotted}bus.${workspaceId}.`],
    /** Filters for the events these patterns match, of one tenant or of all. No two of them overlap. */
    eventFilters: (patterns: readonly string[], tenant: Partial<TenantScope> = {}) => {
      const scope = `${tenant.workspaceId ?? '*'}.${tenant.environment ?? '*'}`
      return withoutCovered(patterns).map((pattern) => `${dotted}evt.${scope}.${pattern.replace(/\*$/, '>')}`)
    },
    /**
     * Core NATS: something of the service has work, such as `relay`. A hint to its replicas, on no stream; what is true
     * stands in Postgres.
     */
    wakeSubject: (service: string, what: string) => `${dotted}ops.wake.${service}.${what}`,
    /** Core NATS: deliveries, runs or executions of a tenant have changed (`ChangedSignal`). On no stream, and may be lost. */
    changedSubject: ({ workspaceId, environment }: TenantScope) =>
      `${dotted}changed.${workspaceId}.${environment}`,
    changedSubjects: `${dotted}changed.>`,
    /** The object store that the files of exports are kept in, as parts: its stream is called `OBJ_` and this. */
    exportsBucket: stream('EXPORTS'),
    topicsStream: stream('TOPICS'),
    topicSubjects: `${dotted}bus.>`,
    topicSubject: (workspaceId: string, environment: string, topic: string) =>
      `${dotted}bus.${workspaceId}.${environment}.${topic}`,
  }
}
export type NatsNames = ReturnType<typeof natsNames>

/** Patterns that match nothing which another one does not match; the server takes no overlapping filters. */
function withoutCovered(patterns: readonly string[]): string[] {
  const asked = new Set(patterns.map((pattern) => (pattern === 'audit.*' ? '*' : pattern)))
  return [...asked].filter(
    (pattern) => ![...asked].some((other) => other !== pattern && patternMatches(other, pattern)),
  )
}
