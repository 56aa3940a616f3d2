import { buildId, longText, pickAt, type Schemas, type StubRows, secondsAgo } from './states.js'

type Service = Schemas['DeadLetter']['service']
const services: Service[] = [
  ...(['settings', 'itsm', 'dispatcher', 'integrations', 'database-studio'] as const),
  ...(['workflows', 'sdk', 'analytics', 'apps'] as const),
]

const serviceAt = (index: number): Service => pickAt(['analytics', 'workflows'] as const, index)

export const deadLetterAt = (index: number, isLong = false): Schemas['DeadLetter'] => ({
  ...{ id: `${serviceAt(index)}:${buildId('dlt', index)}`, service: serviceAt(index) },
  consumer: isLong
    ? `analytics-facts-${'of-a-long-name-'.repeat(6)}`
    : pickAt(['analytics-facts', 'workflows-triggers'], index),
  ...{ eventType: 'incident.updated', messageId: buildId('evt', index), deliveries: 8, redrivenAt: null },
  ...{
    cause: pickAt(['service_unavailable', 'validation_failed'], index),
    environment: 'production',
    workspaceId: buildId('wsp', 0),
  },
  createdAt: secondsAgo(600 + index * 400),
})

export function platformStatus({ count, isLong }: StubRows): Schemas['PlatformStatus'] {
  const isTroubled = count > 1
  return {
    services: services.map((name, index) => ({
      name,
      state: isTroubled && name === 'analytics' ? 'The database does not answer.' : 'up',
      figures:
        isTroubled && name === 'analytics'
          ? null
          : {
              consumers: [
                {
                  name: `${name}-facts`,
                  pending: index * 7,
                  inHand: 2,
                  deadLetters: isTroubled && index === 0 ? 3 : 0,
                },
              ],
              dueWork: [{ name: 'timers', late: isTroubled && index === 2 ? 214 : 0, oldestSeconds: 400 }],
              unpublished: isTroubled && index === 1 ? 1_204 : 0,
              oldestUnpublishedAt: isTroubled && index === 1 ? secondsAgo(700) : null,
            },
    })),
    webhooks: Array.from({ length: Math.min(count, 6) }, (_, index) => ({
      ...{
        id: buildId('whk', index),
        name: isLong ? longText : 'Billing sync',
        workspaceId: buildId('wsp', 0),
      },
      ...{ environment: 'production', waiting: 2_140 - index * 90, oldestAt: secondsAgo(4_000) },
    })),
    workspaceCount: Math.max(count, 1),
    workspaces: Array.from({ length: Math.min(Math.max(count, 1), 20) }, (_, index) => ({
      ...{ id: buildId('wsp', index), slug: index === 0 ? 'acme' : `team-${index}`, members: 12 + index },
      name: isLong ? longText : 'Acme',
    })),
  }
}

export const workspaceStatus = ({ count }: StubRows): Schemas['WorkspaceStatus'] => ({
  services: services.map((name) => ({
    ...{ name, state: 'up' },
    figures: {
      deadLetters:
        name === 'analytics' && count > 0
          ? [{ consumer: 'analytics-facts', cause: 'service_unavailable', count: 3 }]
          : [],
      ...{ dueWork: [], unpublished: 0 },
    },
  })),
  webhooks: { paused: 1, waiting: [] },
})
