import { type PlatformEvent, patternMatches } from './event.js'
import type { TenantScope } from './principal.js'

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
    /** Filters for the events these patterns match, of one tenant or of all. No two of them overlap. */
    eventFilters: (patterns: readonly string[], tenant: Partial<TenantScope> = {}) => {
      const scope = `${tenant.workspaceId ?? '*'}.${tenant.environment ?? '*'}`
      return withoutCovered(patterns).map((pattern) => `${dotted}evt.${scope}.${pattern.replace(/\*$/, '>')}`)
    },
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
