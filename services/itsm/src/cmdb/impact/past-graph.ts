import { ApiError, type Instant, impactTypes, type RelationType, type TenantScope } from '@opsplane/contracts'
import { buildTableAt, countCreated, type PastOf } from '@opsplane/eventstore'
import type { Database } from '@opsplane/postgres'
import { ciRelations, configurationItems } from '../../schema/cmdb.js'
import { type ColumnNames, type Columns, readColumnsUpTo, type StatementRunner } from '../columns.js'
import { buildGraph, type Graph, itemColumns, readLimits, relationColumns } from './graph.js'
import type { ImpactGraph } from './impact.js'
import { buildImpactGraph, impactItemColumns } from './impact-graph-in-memory.js'

/**
 * Maximum number of created aggregates that are looked up, per row of the limit. The log does not show which of them
 * were deleted before the instant without looking up each one.
 */
const createdForEach = 2

interface Log extends Pick<Database, 'db'> {
  sql: StatementRunner
}

/**
 * The graph of a tenant at an instant, read as a whole from the log. Reading only the surroundings of an item would
 * need the tables, which contain the current state only. Throws validation_failed if the graph exceeds `readLimits`.
 */
export function pastGraph({ sql, db }: Log, tenant: TenantScope, asOf: Instant) {
  async function read<Word extends string, Text extends string = never>(
    table: PastOf['table'],
    maxRows: number,
    names: ColumnNames<Word, Text>,
    { types, order = '' }: { types?: RelationType[] | undefined; order?: string } = {},
  ): Promise<Columns<Word, Text>> {
    // Items and relations contain no sealed fields.
    const of: PastOf = { table, tenant, asOf, onlyExposed: true }
    const maxCreated = maxRows * createdForEach
    if ((await countCreated(db, of, maxCreated + 1)) > maxCreated) throw tooLarge()
    const { text, parameters } = buildTableAt(of)
    const ofTypes = types ? `where type = any($${parameters.length + 1}::text[])` : ''
    const queryParameters = types ? [...parameters, types] : parameters
    const found = await readColumnsUpTo(maxRows, sql, names, `${text} ${ofTypes} ${order}`, queryParameters)
    if (found === null) throw tooLarge()
    return found
  }
  const relations = (types: RelationType[] | undefined) =>
    read(ciRelations, readLimits.relations, relationColumns, { types })

  return {
    /** Returns the items, ordered by creation, and the relations of the types. */
    async graph(types: RelationType[] | undefined): Promise<Graph> {
      const oldestFirst = read(configurationItems, readLimits.items, itemColumns, {
        order: 'order by created_at, id',
      })
      return buildGraph(...(await Promise.all([oldestFirst, relations(types)])))
    },
    async impactGraph(): Promise<ImpactGraph> {
      const items = read(configurationItems, readLimits.items, impactItemColumns)
      return buildImpactGraph(...(await Promise.all([items, relations([...impactTypes])])))
    },
  }
}

const tooLarge = () =>
  new ApiError('validation_failed', 'There was too much then to be read at once.', {
    details: [
      {
        ...{ in: 'query', path: '/asOf', code: 'graph_too_large' },
        message: `must be an instant with at most ${readLimits.items} items and ${readLimits.relations} relations`,
        params: readLimits,
      },
    ],
  })
