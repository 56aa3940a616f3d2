import type { PlatformEvent, TenantScope } from '@opsplane/contracts'
import { createMonths } from '@opsplane/eventstore'
import { type Database, jsonArray } from '@opsplane/postgres'
import {
  type Dataset,
  type EventDataset,
  type FactValue,
  type FedDataset,
  factTableName,
  type VersionedFact,
} from '../dataset/dataset.js'
import { eventDatasets } from '../dataset/datasets.js'
import { factStatement } from './fact-statement.js'

export interface FactWriter {
  /** Writes the facts of the events. Idempotent, and independent of the order of events. */
  write(events: readonly PlatformEvent[]): Promise<void>
  /** Writes facts pulled from a service; `overwrite`: also those that exist in the same version. */
  writeFed(
    dataset: FedDataset,
    facts: readonly VersionedFact[],
    options: { overwrite: boolean },
  ): Promise<void>
}

/** @param onChange called with the tenants whose facts have changed, after the commit */
export function createFactWriter(
  { sql }: Pick<Database, 'sql'>,
  onChange: (tenants: TenantScope[]) => void,
): FactWriter {
  const statements = new Map<string, string>()
  const statementOf = (reported: readonly DatasetFacts[], overwrite: boolean) => {
    const key = `${overwrite} ${reported.map(({ dataset }) => dataset.name).join()}`
    const datasets = reported.map(({ dataset }) => dataset)
    const statement = statements.get(key) ?? factStatement(datasets, { overwrite })
    statements.set(key, statement)
    return statement
  }
  const months = new Map<Dataset, ReturnType<typeof createMonths>>()
  const ensureMonths = async ({ dataset, facts }: DatasetFacts) => {
    const known = months.get(dataset) ?? createMonths(`add_${factTableName(dataset)}_month`)
    months.set(dataset, known)
    for (const { id } of facts) {
      const made = known.ensure(sql, id)
      if (made) await made
    }
  }
  const write = async (datasetFacts: readonly DatasetFacts[], overwrite: boolean) => {
    const reported = datasetFacts.filter(({ facts }) => facts.length > 0)
    if (reported.length === 0) return
    for (const each of reported) await ensureMonths(each)
    const parameters = reported.flatMap(({ dataset, facts }) => toParameters(dataset, keepNewest(facts)))
    const changed = await sql.unsafe<TenantScope[]>(statementOf(reported, overwrite), parameters, {
      prepare: true,
    })
    if (changed.length > 0) onChange([...changed])
  }
  return {
    write: (events) =>
      write(
        eventDatasets.map((dataset) => ({ dataset, facts: toFacts(dataset, events) })),
        false,
      ),
    writeFed: (dataset, facts, { overwrite }) => write([{ dataset, facts }], overwrite),
  }
}

interface DatasetFacts {
  dataset: Dataset
  facts: readonly VersionedFact[]
}

const toFacts = (dataset: EventDataset, events: readonly PlatformEvent[]): VersionedFact[] =>
  events.flatMap((event) => {
    const fact = dataset.toFact(event)
    const { workspaceId, environment, version, createdAt: happenedAt } = event
    return fact ? [{ ...fact, tenant: { workspaceId, environment }, version, happenedAt }] : []
  })

/** Returns the highest version of each id. */
function keepNewest(facts: readonly VersionedFact[]): VersionedFact[] {
  const newest = new Map<string, VersionedFact>()
  for (const fact of facts) {
    const known = newest.get(fact.id)
    if (!known || known.version < fact.version) newest.set(fact.id, fact)
  }
  return [...newest.values()]
}

function toParameters(dataset: Dataset, facts: readonly VersionedFact[]): string[] {
  const list = (read: (fact: VersionedFact) => FactValue | undefined) =>
    jsonArray(facts.map((fact) => toText(read(fact))))
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

/** Postgres text representation. Removes NUL characters, which its text type does not allow. */
function toText(value: FactValue | undefined): string | null {
  if (value === null || value === undefined) return null
  return String(value).replaceAll('\0', '')
}
