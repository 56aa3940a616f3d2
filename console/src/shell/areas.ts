/** The areas of the console in the order of the rail, each with its keyboard shortcut; the name also selects its icon. */
export const areas = [
  { name: 'failed', to: '/w/$workspace/$environment/failed', key: 'f' },
  { name: 'deliveries', to: '/w/$workspace/$environment/deliveries', key: 'd' },
  { name: 'webhooks', to: '/w/$workspace/$environment/webhooks', key: 'w' },
  { name: 'events', to: '/w/$workspace/$environment/events', key: 'e' },
  { name: 'topics', to: '/w/$workspace/$environment/topics', key: 't' },
  { name: 'catalogue', to: '/w/$workspace/$environment/catalogue', key: 'c' },
  { name: 'audit', to: '/w/$workspace/$environment/audit', key: 'a' },
  { name: 'notifications', to: '/w/$workspace/$environment/notifications', key: 'n' },
  { name: 'people', to: '/w/$workspace/$environment/people', key: 'p' },
  { name: 'platform', to: '/w/$workspace/$environment/platform', key: 'o' },
] as const
export type Area = (typeof areas)[number]

/** The areas that this person may see. */
export const findAreas = ({ operator }: { operator: boolean }): Area[] =>
  areas.filter(({ name }) => name !== 'platform' || operator)
