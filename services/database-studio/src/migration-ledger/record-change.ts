import { type CommandMeta, newId, type PromotedDefinition } from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import { quoteIdentifier } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { Space } from '../data-plane/space.js'
import { migration } from './domain.js'
import { computeChecksum, toSequenceName } from './ledger.js'

export interface DefinedChange {
  name: string
  /** What was done to the schema of the space: nothing where only words have changed. */
  statements: readonly string[]
  /** What undoes it; null where nothing does. */
  undo: readonly string[] | null
  /** What the table has become; null where it is gone. */
  definition: PromotedDefinition | null
  /** What it was; null where it is new. */
  previous: PromotedDefinition | null
}

/** Records a change of a definition as a migration that is applied already, in the unit that makes it. */
export type RecordChange = (
  unit: Unit,
  space: Space,
  change: DefinedChange,
  meta: CommandMeta,
) => Promise<void>

/** So that promotion takes such changes over as well, those of words among them. */
export function changeRecorder({ store }: Pick<ServiceContext, 'store'>): RecordChange {
  const migrations = store.aggregate(migration)
  return async (unit, space, { name, statements, undo, definition, previous }, { now }) => {
    const number = await store.numbers.next(space.workspaceId, toSequenceName(space.environment))
    const sqlOf = (parts: readonly string[]) =>
      parts.map((part) => `${part.replaceAll(`${quoteIdentifier(space.schema)}.`, '')};`).join('\n') ||
      onlyWords
    const wording = { up: sqlOf(statements), down: undo && sqlOf(undo), transactional: true }
    const fields = {
      number,
      name,
      ...wording,
      checksum: computeChecksum(wording),
      origin: 'table' as const,
      definition: definition && withoutIdentity(definition),
      previous: previous && withoutIdentity(previous),
    }
    const id = newId('migration')
    await unit.create(migrations, id, { kind: 'create', id, fields, applied: true, now })
  }
}

/** The SQL of a change of what SQL does not say, such as a name. */
const onlyWords = '-- Nothing of the schema changes, only the texts of its definition.'

function withoutIdentity({
  slug,
  name,
  description,
  columns,
  indexes,
  uniques,
  checks,
  rules,
}: PromotedDefinition) {
  return { slug, name, description, columns, indexes, uniques, checks, rules }
}
