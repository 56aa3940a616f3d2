import { type CommandMeta, newId, type PromotedDefinition } from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import { quoted } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { Space } from '../plane/space.js'
import { migration } from './domain.js'
import { checksumOf } from './ledger.js'

export interface DefinedChange {
  name: string
  /** What was done to the schema of the space. */
  statements: readonly string[]
  /** What the table has become; null where it is gone. */
  definition: PromotedDefinition | null
}

/** Records a change of a definition as a migration that is applied already, in the unit that makes it. */
export type RecordChange = (
  unit: Unit,
  space: Space,
  change: DefinedChange,
  meta: CommandMeta,
) => Promise<void>

/** So that promotion takes such changes over as well. What changes nothing of the schema is not recorded. */
export function changeRecorder({ store }: Pick<ServiceContext, 'store'>): RecordChange {
  const migrations = store.aggregate(migration)
  return async (unit, space, { name, statements, definition }, { now }) => {
    if (statements.length === 0) return
    const number = await store.numbers.next(space.workspaceId, `migration/${space.environment}`)
    const up = statements
      .map((statement) => `${statement.replaceAll(`${quoted(space.schema)}.`, '')};`)
      .join('\n')
    const wording = { up, down: null, transactional: true }
    const kept = definition && withoutIdentity(definition)
    const fields = {
      number,
      name,
      ...wording,
      checksum: checksumOf(wording),
      origin: 'table' as const,
      definition: kept,
    }
    const id = newId('migration')
    await unit.create(migrations, id, { kind: 'create', id, fields, applied: true, now })
  }
}

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
