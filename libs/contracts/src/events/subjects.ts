import { Environment, type TenantScope } from '../core/principal.js'
import { type PlatformEvent, patternMatches } from './event.js'

/** Headers of a message on the events stream. The body is the event. */
export const eventHeaders = {
  requestId: 'X-Request-ID',
  /** The event's id, or another id if the stream has already seen that one. */
  messageId: 'Nats-Msg-Id',
  /** The service whose log contains the event, named by its schema. */
  source: 'Opsplane-Source',
  /** The event's position in that log. */
  position: 'Opsplane-Position',
  /** Watermark: the stream had acknowledged every event of that log up to this position when this one was published. */
  lowWatermark: 'Opsplane-Floor',
  /** The event's stream within that log, percent-encoded: later events of the stream wait for this one. Not signed. */
  stream: 'Opsplane-Stream',
  /** Signature by the source service, for each service that verifies it (ADR 049). */
  signature: 'Opsplane-Signature',
  /** W3C Trace Context of the publishing span, if its request is traced; not signed. */
  traceparent: 'traceparent',
} as const

/** Tenant and type of an event. */
export type SubjectEvent = Pick<PlatformEvent, 'workspaceId' | 'environment' | 'type'>

/** All names on the NATS server. A prefix separates several installations on one server. */
export function natsNames(prefix = '') {
  const dotted = prefix === '' ? '' : `${prefix}.`
  const stream = (name: string) => (prefix === '' ? name : `${prefix.toUpperCase()}_${name}`)
  return {
    eventsStream: stream('PLATFORM_EVENTS'),
    eventSubjects: `${dotted}evt.>`,
    /** `evt.<workspaceId>.<environment>.<type>` */
    eventSubject: (event: SubjectEvent) =>
      `${dotted}evt.${event.workspaceId}.${event.environment}.${event.type}`,
    /** Parses a subject; `undefined` if it has another form. */
    subjectEvent(subject: string): SubjectEvent | undefined {
      const [first, workspaceId, environment, ...type] = subject.slice(dotted.length).split('.')
      const known = Environment.options.find((each) => each === environment)
      if (!subject.startsWith(dotted) || first !== 'evt' || !workspaceId || !known || type.length === 0)
        return undefined
      return { workspaceId, environment: known, type: type.join('.') }
    },
    /** Subject prefixes of all messages of one workspace. */
    subjectsOf: (workspaceId: string) => [`${dotted}evt.${workspaceId}.`, `${dotted}bus.${workspaceId}.`],
    /** Subject filters for the events these patterns match, of one tenant or of all. The filters do not overlap. */
    eventFilters: (patterns: readonly string[], tenant: Partial<TenantScope> = {}) => {
      const scope = `${tenant.workspaceId ?? '*'}.${tenant.environment ?? '*'}`
      return withoutCovered(patterns).map((pattern) => `${dotted}evt.${scope}.${pattern.replace(/\*$/, '>')}`)
    },
    /**
     * Core NATS: a part of the service, such as `relay`, has work. Only a hint to the replicas, on no
     * stream; Postgres has the authoritative state.
     */
    wakeSubject: (service: string, reason: string) => `${dotted}ops.wake.${service}.${reason}`,
    /**
     * Core NATS: deliveries, runs or executions of a tenant have changed (`ChangedSignal`).
     * On no stream, and may be lost.
     */
    changedSubject: ({ workspaceId, environment }: TenantScope) =>
      `${dotted}changed.${workspaceId}.${environment}`,
    changedSubjects: `${dotted}changed.>`,
    /** The object store of export files, in parts; its stream is named `OBJ_` followed by this. */
    exportsBucket: stream('EXPORTS'),
    topicsStream: stream('TOPICS'),
    topicSubjects: `${dotted}bus.>`,
    topicSubject: (workspaceId: string, environment: string, topic: string) =>
      `${dotted}bus.${workspaceId}.${environment}.${topic}`,
  }
}
export type NatsNames = ReturnType<typeof natsNames>

/** Drops patterns that are covered by another one: the server accepts no overlapping filters. */
function withoutCovered(patterns: readonly string[]): string[] {
  const uniquePatterns = new Set(patterns.map((pattern) => (pattern === 'audit.*' ? '*' : pattern)))
  return [...uniquePatterns].filter(
    (pattern) => ![...uniquePatterns].some((other) => other !== pattern && patternMatches(other, pattern)),
  )
}
