import { defineDataset, text } from './dataset.js'

/** Rows of tables change far more often than anything else, and are counted by themselves. */
const isRecord = (type: string) => type.startsWith('record.')

export const events = defineDataset({
  name: 'events',
  label: 'Events',
  description: 'One fact for each event of the environment, those of records apart.',
  permission: 'audit:read',
  idPrefix: 'evt_',
  columns: {
    type: text('Type'),
    family: text('Family'),
    resourceType: text('Resource'),
    actorId: text('Actor'),
    actorType: text('Kind of actor'),
  },
  measures: {
    events: { label: 'Events', description: 'How many there are.', kind: 'count' },
    by_people: {
      label: 'By people',
      description: 'Events caused by users.',
      kind: 'count',
      where: "actor_type = 'user'",
    },
    actors: { label: 'Actors', description: 'Different ones.', kind: 'distinct', of: 'actorId' },
  },
  timeFields: ['createdAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['family'], sketches: true },
    { dimensions: ['type'] },
    { dimensions: ['actorType'] },
  ],
  toFact({ id, type, createdAt, actor, resource }) {
    if (isRecord(type)) return undefined
    const family = type.split('.', 1)[0] ?? type
    const values = { type, family, resourceType: resource.type, actorId: actor.id, actorType: actor.type }
    return { id, createdAt, values }
  },
})

export const records = defineDataset({
  name: 'records',
  label: 'Record changes',
  description: 'One fact for each record of a table that was created, updated or deleted.',
  permission: 'tables:read',
  idPrefix: 'evt_',
  columns: {
    tableSlug: text('Table'),
    operation: text('Operation'),
    actorId: text('Actor'),
    actorType: text('Kind of actor'),
  },
  measures: {
    changes: { label: 'Changes', description: 'How many there are.', kind: 'count' },
    created: {
      label: 'Created',
      description: 'Records created.',
      kind: 'count',
      where: "operation = 'created'",
    },
    updated: {
      label: 'Updated',
      description: 'Updates of records.',
      kind: 'count',
      where: "operation = 'updated'",
    },
    deleted: {
      label: 'Deleted',
      description: 'Records deleted.',
      kind: 'count',
      where: "operation = 'deleted'",
    },
    actors: { label: 'Actors', description: 'Different ones.', kind: 'distinct', of: 'actorId' },
  },
  timeFields: ['createdAt'],
  rollups: [{ dimensions: [], sketches: true }, { dimensions: ['tableSlug'] }, { dimensions: ['operation'] }],
  toFact({ id, type, createdAt, actor, data }) {
    if (!isRecord(type)) return undefined
    const tableSlug = typeof data.tableSlug === 'string' ? data.tableSlug : null
    const operation = type.slice('record.'.length)
    return { id, createdAt, values: { tableSlug, operation, actorId: actor.id, actorType: actor.type } }
  },
})
