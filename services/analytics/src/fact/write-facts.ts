import type { PlatformEvent, TenantScope } from '@opsplane/contracts'
import { createMonths } from '@opsplane/eventstore'
import { type Database, jsonArray, type StatementRunner } from '@opsplane/postgres'
import {
  type Dataset,
  type EventDataset,
  type FactValue,
  type FedDataset,
  tableOf,
  type VersionedFact,
} from '../dataset/dataset.js'
import { eventDatasets } from '../dataset/datasets.js'
import { factStatement } from './fact-statement.js'

export interface FactWriter {
  /** Writes what the events tell, each fact once however often and in whatever order they come. */
  write(events: readonly PlatformEvent[]): Promise<void>
  /** Writes what a service tells; `anew` also where the facts are there in that version. */
  writeFed(dataset: FedDataset, facts: readonly VersionedFact[], options: { anew: boolean }): Promise<void>
}

/** `onChange`: called with the tenants whose facts have changed, once that is committed. */
export function createFactWriter(
  { sql }: Pick<Database, 'sql'>,
  onChange: (tenants: TenantScope[]) => void,
): FactWriter {
  const writers = new Map<Dataset, ReturnType<typeof factsWriter>>()
  const writerOf = (dataset: Dataset) => {
    const writer = writers.get(dataset) ?? factsWriter(dataset)
    writers.set(dataset, writer)
    return writer
  }
  const committed = async (write: (tx: StatementRunner) => Promise<TenantScope[]>) => {
    const changed = await sql.begin(write)
    if (changed.length > 0) onChange(changed)
  }
  return {
    async write(events) {
      const reported = eventDatasets
        .map((dataset) => ({ dataset, facts: factsOf(dataset, events) }))
        .filter(({ facts }) => facts.length > 0)
      if (reported.length === 0) return
      await committed(async (tx) => {
        const tenants: TenantScope[] = []
        // One after the other: replicas that write the same facts lock them in the same order.
        for (const { dataset, facts } of reported)
          tenants.push(...(await writerOf(dataset)(tx, facts, { anew: false })))
        return tenants
      })
    },
    writeFed: (dataset, facts, options) => committed((tx) => writerOf(dataset)(tx, facts, options)),
  }
}

function factsWriter(dataset: Dataset) {
  const statements = { newer: factStatement(dataset), anew: factStatement(dataset, { anew: true }) }
  const months = createMonths(`add_${tableOf(dataset)}_month`)
  return async (tx: StatementRunner, given: readonly VersionedFact[], { anew }: { anew: boolean }) => {
    const facts = newestOf(given)
    if (facts.length === 0) return []
    for (const { id } of facts) {
      const made = months.ensure(tx, id)
      if (made) await made
    }
    const statement = anew ? statements.anew : statements.newer
    return tx.unsafe<TenantScope[]>(statement, parametersOf(dataset, facts), { prepare: true })
  }
}

const factsOf = (dataset: EventDataset, events: readonly PlatformEvent[]): VersionedFact[] =>
  events.flatMap((event) => {
    const fact = dataset.factOf(event)
    const { workspaceId, environment, version, createdAt: happenedAt } = event
    return fact ? [{ ...fact, tenant: { workspaceId, environment }, version, happenedAt }] : []
  })

/** Of each id the highest version. */
function newestOf(facts: readonly VersionedFact[]): VersionedFact[] {
  const newest = new Map<string, VersionedFact>()
  for (const fact of facts) {
    const known = newest.get(fact.id)
    if (!known || known.version < fact.version) newest.set(fact.id, fact)
  }
  return [...newest.values()]
}

function parametersOf(dataset: Dataset, facts: readonly VersionedFact[]): string[] {
  const list = (read: (fact: VersionedFact) => FactValue | undefined) =>
    jsonArray(facts.map((fact) => textOf(read(fact))))
  return [
    list(({ id }) => id),
    list(({ tenant }) => tenant.workspaceId),
    list(({ tenant }) => tenant.environment),
    list(({ version }) => version),
    list(({ createdAt }) => createdAt),
    list(({ happenedAt }) => happenedAt),
    ...Object.keys(dataset.columns).map((name) => list(({ values }) => values[name])),
  ]
}

/** As Postgres reads it; a NUL, which no text of it holds, is left out. */
function textOf(value: FactValue | undefined): string | null {
  if (value === null || value === undefined) return null
  return String(value).replaceAll('\0', '')
}
