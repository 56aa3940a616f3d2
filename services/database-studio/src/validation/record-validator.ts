import {
  ApiError,
  type ChangedRecords,
  type CommandMeta,
  type ErrorDetail,
  type RecordChangeKind,
  stringifyExact,
  ValidationAnswer,
  type ValidationQuestion,
  validationMs,
} from '@opsplane/contracts'
import { type ServiceClient, validationFailed } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { buildFields } from '../row/fields.js'
import { type Place, pathBelow } from '../row/problems.js'
import type { ResolvedTable } from '../row/resolved-table.js'

/** Columns of a record. */
export type Image = Record<string, unknown>

/** A record that is about to be written. */
export interface Change {
  opened: ResolvedTable
  operation: RecordChangeKind
  /** As it is; of a new one null. */
  before: Image | null
  /** As it would be; null where it is deleted. */
  after: Image | null
  /** Where its columns stand in the request. */
  place: Place
}

/** What a validation has against a change. */
export interface Fault extends ErrorDetail {
  change: Change
}

export interface RecordValidator {
  /** Whether there is a validation for this. */
  concerns(opened: ResolvedTable, operations: readonly RecordChangeKind[]): boolean
  /**
   * Asks about all changes of a batch in one call; of those without a validation, none. Throws
   * `service_unavailable` where a validation that fails closed could not be run.
   */
  faults(changes: readonly Change[], meta: CommandMeta): Promise<Fault[]>
  /** The same; throws `validation_failed` for any fault. */
  check(changes: readonly Change[], meta: CommandMeta): Promise<void>
}

/** From the question to the last byte of its answer: longer than any validation may take. */
export const validationTimeoutMs = validationMs + 2_000

/** Of the records of one batch, as JSON. */
export const maxBatchBytes = 16 * 1_024 * 1_024

/** Validates records by the rules of the sdk before they are written. */
export function createRecordValidator({
  sdk,
  log,
}: {
  sdk: Pick<ServiceClient, 'post'>
  log: Logger
}): RecordValidator {
  async function ask(
    question: ValidationQuestion,
    { closed, traceparent }: { closed: boolean; traceparent: string | undefined },
  ) {
    try {
      const { requestId } = question
      const options = { traceparent, ...(requestId !== null && { requestId }) }
      return await sdk.post('/internal/rules/validate', question, ValidationAnswer, options)
    } catch (error) {
      log.warn({ err: error, closed }, 'the sdk could not be asked to validate records')
      if (!closed) return undefined
      throw unavailable('The service that runs them did not answer.', error)
    }
  }

  const faults: RecordValidator['faults'] = async (changes, meta) => {
    const asked = changes.filter(({ opened, operation }) => isAsked(opened, operation))
    if (asked.length === 0) return []
    const groups = groupsOf(asked)
    const question = questionOf(groups, meta)
    refuseTooLarge(question)
    const closed = asked.some(({ opened, operation }) => failsClosed(opened, operation))
    const answer = await ask(question, { closed, traceparent: meta.traceparent })
    const [first] = answer?.unavailable ?? []
    if (first) throw unavailable(`${first.artifact}: ${first.reason}`)
    return (answer?.faults ?? []).flatMap(({ batch, index, ...fault }) => {
      const change = groups[batch]?.[index]
      return change ? [{ change, ...detailOf(change, fault) }] : []
    })
  }

  return {
    concerns: (opened, operations) => operations.some((operation) => isAsked(opened, operation)),
    faults,
    async check(changes, meta) {
      const found = await faults(changes, meta)
      if (found.length > 0) throw validationFailed(found.map(({ change: _, ...detail }) => detail))
    },
  }
}

const isAsked = ({ validations }: ResolvedTable, operation: RecordChangeKind) =>
  validations.some(({ on }) => on.includes(operation))

const failsClosed = ({ validations }: ResolvedTable, operation: RecordChangeKind) =>
  validations.some(({ on, whenUnavailable }) => whenUnavailable === 'fail_closed' && on.includes(operation))

/** Those of one table that are written in the same way, in the order they are given. */
function groupsOf(changes: readonly Change[]): Change[][] {
  const groups = new Map<string, Change[]>()
  for (const change of changes) {
    const key = `${change.operation} ${change.opened.table.slug}`
    const group = groups.get(key) ?? []
    groups.set(key, group)
    group.push(change)
  }
  return [...groups.values()]
}

const questionOf = (
  groups: readonly Change[][],
  { tenant, actor, requestId, causationId = null }: CommandMeta,
): ValidationQuestion => ({
  ...{ workspaceId: tenant.workspaceId, environment: tenant.environment },
  ...{ actorId: actor.id, requestId, causationId },
  batch: groups.flatMap((group): ChangedRecords[] => {
    const [first] = group
    if (!first) return []
    const { operation, opened } = first
    const records = group.map(({ before, after }) => after ?? before ?? {})
    const before = operation === 'update' ? group.map((change) => change.before ?? {}) : undefined
    return [{ table: opened.table.slug, operation, records, ...(before && { before }) }]
  }),
})

function refuseTooLarge({ batch }: ValidationQuestion): void {
  let bytes = 0
  for (const { records, before = [] } of batch)
    for (const record of [...records, ...before]) {
      bytes += Buffer.byteLength(stringifyExact(record))
      if (bytes > maxBatchBytes) throw batchTooLargeError()
    }
}

/** What a write of validated records must not exceed, as a validation has to be shown all of it. */
export const batchTooLargeError = () =>
  new ApiError(
    'payload_too_large',
    'The records of this table are validated before they are written, at most 16 MiB of them at once. Write fewer.',
  )

function detailOf(
  { opened, operation, before, place }: Change,
  {
    artifact,
    column,
    code,
    message,
  }: { artifact: string; column?: string | undefined; code: string; message: string },
): ErrorDetail {
  const isColumn = column !== undefined && operation !== 'delete' && buildFields(opened.table).has(column)
  const at = isColumn ? pathBelow(place, column) : place
  const id = before?.id
  const params = { artifact, ...(id !== undefined && { record: id }) }
  return { in: at.in, path: at.path, code, message, params }
}

const unavailable = (reason: string, cause?: unknown) =>
  new ApiError(
    'service_unavailable',
    `The records were not written: a validation that has to let them pass could not be run. ${reason}`,
    { cause },
  )
