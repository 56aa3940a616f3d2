import { defineDataset, measure, text } from './dataset.js'

/** Records of tables change far more often than anything else and are therefore counted separately. */
const isRecord = (type: string) => type.startsWith('record.')

export const events = defineDataset({
  name: 'events',
  label: 'Events',
  description: 'One fact for each event of the environment, except events of records.',
  permission: 'audit:read',
  columns: {
    type: text('Type'),
    family: text('Family'),
    resourceType: text('Resource'),
    actorId: text('Actor'),
    actorType: text('Kind of actor'),
  },
  measures: {
    events: measure.count('Events', 'Number of events.'),
    by_people: measure.count('By people', 'Events caused by users.', "actor_type = 'user'"),
    actors: measure.distinct('Actors', 'Number of different actors.', 'actorId'),
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
  description: 'One fact for each creation, update or deletion of a record of a table.',
  permission: 'tables:read',
  columns: {
    tableSlug: text('Table'),
    operation: text('Operation'),
    actorId: text('Actor'),
    actorType: text('Kind of actor'),
  },
  measures: {
    changes: measure.count('Changes', 'Number of record changes.'),
    created: measure.count('Created', 'Records created.', "operation = 'created'"),
    updated: measure.count('Updated', 'Updates of records.', "operation = 'updated'"),
    deleted: measure.count('Deleted', 'Records deleted.', "operation = 'deleted'"),
    actors: measure.distinct('Actors', 'Number of different actors.', 'actorId'),
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
