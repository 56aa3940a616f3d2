import {
  ApiError,
  type ArtifactRule,
  type ChangedRecords,
  type Execution,
  filterMatches,
  type JsonValue,
  type TenantScope,
  type ValidationAnswer,
  type ValidationQuestion,
  ValidationResult,
  validationMs,
} from '@opsplane/contracts'
import { type DepthsAfter, maxCausationDepth, type RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { ArtifactLoader, LoadedArtifact } from '../artifact/loader.js'
import type { TouchedRecord } from '../execution/model.js'
import type { Executions } from '../invoke/executions.js'
import { validateInput } from '../invoke/schemas.js'

export interface ValidationParts {
  loading: Pick<ArtifactLoader, 'loadArtifact'>
  executions: Pick<Executions, 'run'>
  depthsAfter: DepthsAfter
}

/**
 * Runs the validations of a batch that is about to be written: each once for the records of one table and
 * operation.
 */
export type Validate = (
  question: ValidationQuestion,
  meta?: Pick<RequestMeta, 'traceparent'>,
) => Promise<ValidationAnswer>

interface Validation {
  id: string
  slug: string
  rule: ArtifactRule & { validates: NonNullable<ArtifactRule['validates']> }
}

/** The records of the batch to which a validation applies. */
interface Task {
  validation: Validation
  batch: number
  changed: ChangedRecords
  /** Their indexes in the batch. */
  places: readonly number[]
}

/** The chain of causes and trace to which the executions belong. */
interface Within {
  /** Number of runs and executions that led to the write. */
  depth: number
  traceparent: string | undefined
}

type Fault = ValidationAnswer['faults'][number]

const maxTouched = 500

export function createValidate(
  { database, clock, log }: Pick<ServiceContext, 'database' | 'clock' | 'log'>,
  { loading, executions, depthsAfter }: ValidationParts,
): Validate {
  /** Throws if the validation cannot be run. */
  async function execute(artifact: LoadedArtifact, task: Task, question: ValidationQuestion, within: Within) {
    const { depth, traceparent } = within
    if (depth > maxCausationDepth)
      throw new ApiError('conflict', 'The chain of causes is longer than allowed.')
    const { actorId, requestId, workspaceId, environment } = question
    const ran = await executions.run({
      ...{
        tenant: { workspaceId, environment },
        artifact,
        type: 'business_rule',
        depth,
        requestId,
        traceparent,
      },
      ...{ now: clock.now(), timeoutMs: validationMs, records: touchedBy(task) },
      trigger: { type: 'api', id: actorId },
      input: validateInput(artifact.inputSchema, inputOf(task)),
    })
    return ran?.execution
  }

  async function perform(
    task: Task,
    question: ValidationQuestion,
    within: Within,
  ): Promise<ValidationAnswer> {
    const { workspaceId, environment } = question
    const { id, slug, rule } = task.validation
    try {
      const artifact = await loading.loadArtifact({ workspaceId, environment }, id)
      // Its pack was uninstalled a moment ago.
      if (!artifact) return { faults: [], unavailable: [] }
      const faults = await Promise.all(
        inParts(task, artifact.limits.inputBytes).map(async (part) =>
          faultsOf(part, await execute(artifact, part, question, within)),
        ),
      )
      return { faults: faults.flat(), unavailable: [] }
    } catch (error) {
      const reason = error instanceof ApiError ? error.message : 'It could not be run.'
      const closed = rule.validates.whenUnavailable === 'fail_closed'
      log.warn({ err: error, artifact: slug, closed }, 'a validation could not be run')
      return { faults: [], unavailable: closed ? [{ artifact: slug, reason }] : [] }
    }
  }

  return async (question, { traceparent } = {}) => {
    const { workspaceId, environment, batch, causationId } = question
    const validations = await validationsOf(database, { workspaceId, environment })
    const write = { resource: { id: '' }, causationId }
    const within = { depth: (await depthsAfter([write]))(write), traceparent }
    const tasks = batch.flatMap((changed, index) => tasksOf(validations, changed, index))
    const answers = await Promise.all(tasks.map((task) => perform(task, question, within)))
    return {
      faults: answers.flatMap(({ faults }) => faults),
      unavailable: answers.flatMap(({ unavailable }) => unavailable),
    }
  }
}

function tasksOf(validations: readonly Validation[], changed: ChangedRecords, batch: number): Task[] {
  const { table, operation, records, before = [] } = changed
  return validations.flatMap((validation): Task[] => {
    const { validates, filter } = validation.rule
    if (!validates.tables.includes(table) || !validates.on.includes(operation)) return []
    const isFor = (record: unknown) => filter === undefined || filterMatches(filter, record)
    const places = records.flatMap((record, place) =>
      isFor(record) || (before[place] && isFor(before[place])) ? [place] : [],
    )
    return places.length > 0 ? [{ validation, batch, changed, places }] : []
  })
}

/** For the other fields of the input. */
const spareBytes = 1_024

/**
 * Splits the records into several executions if they exceed the artifact's input limit, so that none is skipped because
 * of the batch size.
 */
function inParts({ places, ...task }: Task, inputBytes: number): Task[] {
  const { records, before = [] } = task.changed
  const parts: number[][] = []
  let left = 0
  for (const place of places) {
    const bytes = Buffer.byteLength(JSON.stringify([records[place], before[place]]))
    if (bytes > left) {
      parts.push([])
      left = inputBytes - spareBytes
    }
    parts.at(-1)?.push(place)
    left -= bytes
  }
  return parts.map((part) => ({ ...task, places: part }))
}

/** The input passed to the code. Parsed from JSON. */
function inputOf({ changed: { table, operation, records, before }, places }: Task): JsonValue {
  const those = (all: ChangedRecords['records']) => places.map((place) => all[place])
  return { table, operation, records: those(records), ...(before && { before: those(before) }) } as JsonValue
}

const touchedBy = ({ changed: { table, records }, places }: Task): TouchedRecord[] =>
  places.slice(0, maxTouched).flatMap((place) => {
    const id = records[place]?.id
    return typeof id === 'string' ? [{ id, table }] : []
  })

/** Throws `conflict` if the execution has not completed. */
function faultsOf({ validation: { slug }, batch, places }: Task, execution: Execution | undefined): Fault[] {
  if (execution?.status !== 'completed')
    throw new ApiError('conflict', execution?.error?.message ?? `It ended as ${execution?.status}.`)
  // An execution with an invalid result does not complete.
  const { faults } = ValidationResult.parse(execution.output)
  return faults.map(({ index, ...fault }) => ({
    ...fault,
    index: places[index] ?? 0,
    ...{ batch, artifact: slug },
  }))
}

/**
 * All validations of an environment, including suspended ones: they are not run, so their
 * `whenUnavailable` applies.
 */
async function validationsOf(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, environment }: TenantScope,
): Promise<Validation[]> {
  const rows = await sql.unsafe<{ id: string; slug: string; rule: ArtifactRule }[]>(
    `select id, slug, state->'rule' as rule from artifacts
     where workspace_id = $1 and environment = $2 and kind = 'business_rule' and status <> 'removed' order by slug`,
    [workspaceId, environment],
    { prepare: true },
  )
  // The rows were written from parsed rules, which guarantees the type.
  return rows.flatMap(({ id, slug, rule }) =>
    rule.validates ? [{ id, slug, rule: { ...rule, validates: rule.validates } }] : [],
  )
}
