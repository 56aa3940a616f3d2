export const catalogue = {
  title: 'Event types',
  group: 'About',
  type: 'Type',
  description: 'When',
  pattern: 'incident.* or *.deleted',
  empty: 'No event type is of this pattern',
  select: 'Select a type to see what its events look like',
  example: 'Example',
  schema: 'JSON Schema',
  occurred: 'Events of this type',
  id: 'Event type',
} as const
