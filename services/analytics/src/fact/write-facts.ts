import type { PlatformEvent, TenantScope } from '@opsplane/contracts'
import { createMonths } from '@opsplane/eventstore'
import { type Database, jsonArray, type StatementRunner } from '@opsplane/postgres'
import { type baseColumns, type Dataset, type Fact, type FactValue, tableOf } from '../dataset/dataset.js'
import { datasets } from '../dataset/datasets.js'
import { factStatement } from './fact-statement.js'

interface ToldFact extends Fact {
  event: PlatformEvent
}

export interface FactWriter {
  /** Writes what the events tell, each fact once however often and in whatever order they come. */
  write(events: readonly PlatformEvent[]): Promise<void>
  /** Forgets which partitions there are. */
  forget(): void
}

/** `onChange`: called with the tenants whose facts have changed, once that is committed. */
export function createFactWriter(
  { sql }: Pick<Database, 'sql'>,
  onChange: (tenants: TenantScope[]) => void,
): FactWriter {
  const writers = datasets.map((dataset) => ({
    dataset,
    statement: factStatement(dataset),
    months: createMonths(`add_${tableOf(dataset)}_month`),
  }))

  const writeOf = async (
    tx: StatementRunner,
    { dataset, statement, months, facts }: (typeof writers)[number] & { facts: readonly ToldFact[] },
  ) => {
    for (const { id } of facts) await months.ensure(tx, id)
    return tx.unsafe<TenantScope[]>(statement, parametersOf(dataset, facts), { prepare: true })
  }

  return {
    async write(events) {
      const told = writers
        .map((writer) => ({ ...writer, facts: newestFacts(writer.dataset, events) }))
        .filter(({ facts }) => facts.length > 0)
      if (told.length === 0) return
      const changed = await sql.begin(async (tx) => {
        const tenants: TenantScope[] = []
        // One after the other: replicas that write the same facts lock them in the same order.
        for (const each of told) tenants.push(...(await writeOf(tx, each)))
        return tenants
      })
      if (changed.length > 0) onChange(changed)
    },
    forget() {
      for (const { months } of writers) months.forget()
    },
  }
}

/** Of each id what its highest version tells. */
function newestFacts(dataset: Dataset, events: readonly PlatformEvent[]): ToldFact[] {
  const newest = new Map<string, ToldFact>()
  for (const event of events) {
    const fact = dataset.factOf(event)
    if (!fact) continue
    const known = newest.get(fact.id)
    if (!known || known.event.version < event.version) newest.set(fact.id, { ...fact, event })
  }
  return [...newest.values()]
}

function parametersOf(dataset: Dataset, facts: readonly ToldFact[]): string[] {
  const columns = Object.keys(dataset.columns)
  const list = (read: (fact: ToldFact) => FactValue | undefined) =>
    jsonArray(facts.map((fact) => textOf(read(fact))))
  return [
    list(({ id }) => id),
    list(({ event }) => event.workspaceId),
    list(({ event }) => event.environment),
    list(({ event }) => event.version),
    list((fact) => fact[createdAt]),
    list(({ event }) => event.createdAt),
    ...columns.map((name) => list(({ values }) => values[name])),
  ]
}

const createdAt = 'createdAt' satisfies keyof typeof baseColumns

/** As Postgres reads it; a NUL, which no text of it holds, is left out. */
function textOf(value: FactValue | undefined): string | null {
  if (value === null || value === undefined) return null
  return String(value).replaceAll('\0', '')
}
