import { ApiError, newId, type RecordBatch, type RecordOperation } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { StatementRunner } from '@opsplane/postgres'
import { DryRun } from '../row/dry-run.js'
import { isOutdated, isRefusedRow, writeFailure } from '../row/failures.js'
import { readRecord } from '../row/input.js'
import { groupInserts, insertGroups, toWriteTarget } from '../row/inserts.js'
import { invalidError, type Place, Problems, pathBelow } from '../row/problems.js'
import { type RecordAccess, runStatement } from '../row/record-access.js'
import { checkReferences } from '../row/references.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { selectAllFields } from '../row/selection.js'
import type { Step } from '../row/step.js'
import { deleteStatement, updateStatement } from '../row/write-statements.js'
import type { RecordValidator } from '../validation/record-validator.js'
import { retryOnConflict, StaleValidationError } from '../validation/retry-on-conflict.js'
import { validateSteps } from '../validation/steps.js'
import { assertAllowed, getStatement, ruleForbidsError } from './records.js'
import { toRowError } from './refused-row.js'

export interface StepResult {
  op: RecordOperation['op']
  table: string
  id: string
  record: Row | null
}

interface BatchAnswer {
  results: StepResult[]
  dryRun: boolean
}

const operationsPlace: Place = { in: 'body', path: '/operations' }

/**
 * Runs operations on several tables in one transaction, in order: all or none. Adjacent creations in one table share an
 * insert. A record created earlier in the batch is referred to by its name.
 */
export function createBatch(access: RecordAccess, validating: RecordValidator) {
  const perform = async (batch: RecordBatch, meta: RequestMeta, maxTogether = batch.operations.length) => {
    const tables = await openAll(access, batch.operations, meta)
    const steps = readSteps(batch.operations, tables)
    const [first] = steps
    if (!first) return { results: [], dryRun: batch.dryRun }
    if (steps.some(({ operation }) => operation.op === 'create')) await access.refuseFull(first.opened)
    await checkStepReferences(access, steps, meta)
    await validateSteps({ access, validating }, steps, meta)
    return access.commit([...tables.values()], meta, async (tx) => {
      const results: StepResult[] = []
      for (const run of runsOf(steps, maxTogether)) results.push(...(await runSteps(tx, run)))
      const answer = { results, dryRun: batch.dryRun }
      if (batch.dryRun) throw new DryRun(answer)
      return answer
    })
  }

  const refusalOf = async ({ steps: [step], cause }: RefusedSteps) => {
    if (!step) return cause
    const { operation, opened, place, values } = step
    const path = operation.op === 'delete' ? place.path : `${place.path}/data`
    return toRowError(access, opened, { path, values }, cause)
  }

  /**
   * Postgres does not say which record of a statement it rejected, so the batch is repeated
   * with one statement per record.
   */
  const explained = async (
    batch: RecordBatch,
    meta: RequestMeta,
    maxTogether?: number,
  ): Promise<BatchAnswer> => {
    try {
      return await retryOnConflict(() => perform(batch, meta, maxTogether))
    } catch (error) {
      if (!(error instanceof RefusedSteps)) throw error
      if (error.steps.length === 1) throw await refusalOf(error)
      return explained(batch, meta, 1)
    }
  }

  return async (batch: RecordBatch, meta: RequestMeta) => {
    try {
      return await explained(batch, meta)
    } catch (error) {
      if (!isOutdated(error)) throw error
      for (const { table } of batch.operations) access.forget(table, meta)
      return explained(batch, meta)
    }
  }
}

async function openAll(
  access: RecordAccess,
  operations: readonly RecordOperation[],
  meta: RequestMeta,
): Promise<Map<string, ResolvedTable>> {
  const slugs = [...new Set(operations.map(({ table }) => table))]
  const resolvedTables = await Promise.all(
    slugs.map((slug) =>
      access.open(slug, meta).catch(() => {
        const index = operations.findIndex(({ table }) => table === slug)
        throw invalidError(pathBelow(pathBelow(operationsPlace, index), 'table'), 'not_found', 'is no table')
      }),
    ),
  )
  return new Map(
    slugs.flatMap((slug, index) => (resolvedTables[index] ? [[slug, resolvedTables[index]] as const] : [])),
  )
}

function readSteps(operations: readonly RecordOperation[], tables: Map<string, ResolvedTable>): Step[] {
  const problems = new Problems()
  const idsByName = new Map<string, string>()
  const steps = operations.flatMap((operation, index): Step[] => {
    const place = pathBelow(operationsPlace, index)
    const resolvedTable = tables.get(operation.table)
    if (!resolvedTable) return []
    const isNew = operation.op === 'create'
    const id = isNew ? newId('record') : referredId(operation.id, idsByName)
    const reading = {
      place: pathBelow(place, 'data'),
      problems,
      isNew,
      ref: (name: string) => idsByName.get(name),
    }
    const values = operation.op === 'delete' ? {} : readRecord(resolvedTable.table, operation.data, reading)
    if (isNew && operation.as !== undefined) {
      if (idsByName.has(operation.as))
        problems.add(pathBelow(place, 'as'), 'not_unique', 'is another record already')
      idsByName.set(operation.as, id)
    }
    return [{ operation, opened: resolvedTable, id, values, place }]
  })
  problems.check()
  return steps
}

const referredId = (id: string, idsByName: ReadonlyMap<string, string>): string =>
  id.startsWith('$as:') ? (idsByName.get(id.slice('$as:'.length)) ?? id) : id

async function checkStepReferences(
  access: RecordAccess,
  steps: readonly Step[],
  meta: RequestMeta,
): Promise<void> {
  const made = new Set(steps.flatMap(({ operation, id }) => (operation.op === 'create' ? [id] : [])))
  for (const resolvedTable of new Set(steps.map((step) => step.opened))) {
    const own = steps.filter((step) => step.opened === resolvedTable)
    const rows = own.map(({ id, values }) => ({ ...values, id }))
    const placeOf = (index: number) => pathBelow(own[index]?.place ?? operationsPlace, 'data')
    await checkReferences(access, resolvedTable, { rows, placeOf, made }, meta)
  }
}

/** Groups adjacent operations that share one statement. */
function runsOf(steps: readonly Step[], maxTogether: number): Step[][] {
  const runs: Step[][] = []
  for (const step of steps) {
    const last = runs.at(-1)
    const [before] = last ?? []
    const joins =
      step.operation.op === 'create' &&
      before?.operation.op === 'create' &&
      before.operation.table === step.operation.table &&
      (last?.length ?? 0) < maxTogether
    if (joins) last?.push(step)
    else runs.push([step])
  }
  return runs
}

/** Postgres rejected the statement of these steps. The error is explained after the session was released. */
class RefusedSteps extends Error {
  constructor(
    readonly steps: readonly Step[],
    cause: unknown,
  ) {
    super('a statement of a batch was refused', { cause })
  }
}

async function runSteps(tx: StatementRunner, steps: Step[]): Promise<StepResult[]> {
  const [first] = steps
  if (!first) return []
  const { opened, operation } = first
  const failed = (error: unknown) => {
    throw isRefusedRow(error) ? new RefusedSteps(steps, error) : writeFailure(error, opened.table)
  }
  if (operation.op !== 'create') {
    const row = await changeOne(tx, first).catch(failed)
    return [{ op: operation.op, table: operation.table, id: first.id, record: row }]
  }
  const rows = steps.map(({ id, values }) => ({ ...values, id }))
  const written = await insertGroups(tx, toWriteTarget(opened), groupInserts(opened, rows)).catch(failed)
  const byId = new Map(assertAllowed(written).map((row) => [String(row.id), row]))
  return steps.map(({ id }) => ({ op: 'create', table: operation.table, id, record: byId.get(id) ?? null }))
}

/** Returns the changed record, or null if it was deleted. Errors refer to the operation by its place. */
async function changeOne(
  tx: StatementRunner,
  { operation, opened, id, values, place, validated }: Step,
): Promise<Row | null> {
  const target = toWriteTarget(opened)
  const expectedVersion = operation.op === 'create' ? undefined : operation.version
  const version = expectedVersion ?? validated ?? null
  const columns = Object.keys(values)
  if (operation.op === 'delete' || columns.length > 0) {
    const rows = [{ ...values, id, version }]
    const statement =
      operation.op === 'delete' ? deleteStatement(target, rows) : updateStatement(target, { columns, rows })
    const [changed] = assertAllowed(await runStatement(tx, statement))
    if (changed) return operation.op === 'delete' ? null : changed
  }
  const [there] = await runStatement(
    tx,
    getStatement(selectAllFields(opened.table, opened.readRule), id, opened.space.schema),
  )
  if (!there) throw invalidError(pathBelow(place, 'id'), 'not_found', 'is no record of this table')
  if (version !== null && there.version !== version)
    throw expectedVersion === undefined ? new StaleValidationError() : outdated(place)
  if (columns.length === 0 || target.rule.length === 0) return there
  throw ruleForbidsError()
}

function outdated(place: Place): ApiError {
  const message = 'The record has changed since the version in the operation.'
  const at = pathBelow(place, 'version')
  return new ApiError('precondition_failed', message, {
    details: [{ ...at, code: 'precondition_failed', message: 'is not the version of the record' }],
  })
}
