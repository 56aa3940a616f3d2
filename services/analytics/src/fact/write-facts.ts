import type { PlatformEvent, TenantScope } from '@opsplane/contracts'
import { createMonths } from '@opsplane/eventstore'
import { type Database, jsonArray } from '@opsplane/postgres'
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
  const statements = new Map<string, string>()
  const statementOf = (reported: readonly Reported[], anew: boolean) => {
    const key = `${anew} ${reported.map(({ dataset }) => dataset.name).join()}`
    const datasets = reported.map(({ dataset }) => dataset)
    const statement = statements.get(key) ?? factStatement(datasets, { anew })
    statements.set(key, statement)
    return statement
  }
  const months = new Map<Dataset, ReturnType<typeof createMonths>>()
  const ensureMonths = async ({ dataset, facts }: Reported) => {
    const known = months.get(dataset) ?? createMonths(`add_${tableOf(dataset)}_month`)
    months.set(dataset, known)
    for (const { id } of facts) {
      const made = known.ensure(sql, id)
      if (made) await made
    }
  }
  const write = async (given: readonly Reported[], anew: boolean) => {
    const reported = given.filter(({ facts }) => facts.length > 0)
    if (reported.length === 0) return
    for (const each of reported) await ensureMonths(each)
    const parameters = reported.flatMap(({ dataset, facts }) => parametersOf(dataset, newestOf(facts)))
    const changed = await sql.unsafe<TenantScope[]>(statementOf(reported, anew), parameters, {
      prepare: true,
    })
    if (changed.length > 0) onChange([...changed])
  }
  return {
    write: (events) =>
      write(
        eventDatasets.map((dataset) => ({ dataset, facts: factsOf(dataset, events) })),
        false,
      ),
    writeFed: (dataset, facts, { anew }) => write([{ dataset, facts }], anew),
  }
}

interface Reported {
  dataset: Dataset
  facts: readonly VersionedFact[]
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
