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

/** Column values of a record. */
export type Image = Record<string, unknown>

/** A pending write of a record. */
export interface Change {
  opened: ResolvedTable
  operation: RecordChangeKind
  /** The current record; null for a new one. */
  before: Image | null
  /** The resulting record; null if it is deleted. */
  after: Image | null
  /** Place of its columns in the request. */
  place: Place
}

/** A problem that a validation reports about a change. */
export interface Fault extends ErrorDetail {
  change: Change
}

export interface RecordValidator {
  /** Whether the table has a validation for one of these operations. */
  concerns(resolvedTable: ResolvedTable, operations: readonly RecordChangeKind[]): boolean
  /**
   * Validates all changes of a batch in one call, without those that have no validation. Throws `service_unavailable`
   * if a validation that fails closed could not be run.
   */
  faults(changes: readonly Change[], meta: CommandMeta): Promise<Fault[]>
  /** Same as `faults`, but throws `validation_failed` if there are any. */
  check(changes: readonly Change[], meta: CommandMeta): Promise<void>
}

/** Milliseconds from the request to the last byte of the response; longer than any validation may run. */
export const validationTimeoutMs = validationMs + 2_000

/** Maximum bytes of one batch's records as JSON. */
export const maxBatchBytes = 16 * 1_024 * 1_024

/** Validates records with the rules of the sdk before they are written. */
export function createRecordValidator({
  sdk,
  log,
}: {
  sdk: Pick<ServiceClient, 'post'>
  log: Logger
}): RecordValidator {
  async function requestValidation(
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
    const applicableChanges = changes.filter(({ opened, operation }) => hasValidation(opened, operation))
    if (applicableChanges.length === 0) return []
    const groups = groupsOf(applicableChanges)
    const question = questionOf(groups, meta)
    refuseTooLarge(question)
    const closed = applicableChanges.some(({ opened, operation }) => failsClosed(opened, operation))
    const answer = await requestValidation(question, { closed, traceparent: meta.traceparent })
    const [first] = answer?.unavailable ?? []
    if (first) throw unavailable(`${first.artifact}: ${first.reason}`)
    return (answer?.faults ?? []).flatMap(({ batch, index, ...fault }) => {
      const change = groups[batch]?.[index]
      return change ? [{ change, ...detailOf(change, fault) }] : []
    })
  }

  return {
    concerns: (resolvedTable, operations) =>
      operations.some((operation) => hasValidation(resolvedTable, operation)),
    faults,
    async check(changes, meta) {
      const found = await faults(changes, meta)
      if (found.length > 0) throw validationFailed(found.map(({ change: _, ...detail }) => detail))
    },
  }
}

const hasValidation = ({ validations }: ResolvedTable, operation: RecordChangeKind) =>
  validations.some(({ on }) => on.includes(operation))

const failsClosed = ({ validations }: ResolvedTable, operation: RecordChangeKind) =>
  validations.some(({ on, whenUnavailable }) => whenUnavailable === 'fail_closed' && on.includes(operation))

/** Groups changes by table and operation, in the given order. */
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

/** Error for a write whose validated records exceed the limit, since a validation has to receive all of them. */
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
