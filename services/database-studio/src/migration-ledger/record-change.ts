import { type CommandMeta, newId, type PromotedDefinition } from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import { quoteIdentifier } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { Space } from '../data-plane/space.js'
import { migration } from './domain.js'
import { computeChecksum, toSequenceName } from './ledger.js'

export interface DefinedChange {
  name: string
  /** Statements applied to the schema of the space; empty if only texts of the definition changed. */
  statements: readonly string[]
  /** Statements that undo the change; null if it cannot be undone. */
  undo: readonly string[] | null
  /** The new definition of the table; null if it was deleted. */
  definition: PromotedDefinition | null
  /** The previous definition; null if the table is new. */
  previous: PromotedDefinition | null
}

/** Records a change of a definition as an already applied migration, in the same unit of work as the change. */
export type RecordChange = (
  unit: Unit,
  space: Space,
  change: DefinedChange,
  meta: CommandMeta,
) => Promise<void>

/**
 * Records definition changes, including pure text changes, so that promotion applies them
 * in other environments too.
 */
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

/** SQL recorded for a change that affects no SQL, such as a new display name. */
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
