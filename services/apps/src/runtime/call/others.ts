import {
  ApiError,
  assertNever,
  ConnectorResult,
  QueryAnswer,
  QueryResult,
  type SourceBinding,
  TriggeredRun,
} from '@opsplane/contracts'
import { z } from 'zod'
import { notRetryableDetail } from './errors.js'
import {
  type CallParts,
  callOperation,
  evaluateTemplates,
  type Shown,
  type SourceCall,
} from './source-call.js'

type OtherBinding = Exclude<SourceBinding, { kind: 'table' }>

/** The result of a saved query, a connector, a workflow or a report. */
export async function callOther(parts: CallParts, call: SourceCall, binding: OtherBinding): Promise<Shown> {
  const { pinned } = call.source
  if (!pinned) throw new Error('a deployed data source is not pinned')
  const [input] = await evaluateTemplates(parts, call, [call.source.templates.input])
  const params = { id: pinned.id }
  switch (binding.kind) {
    case 'query': {
      const body = { parameters: input, version: pinned.version }
      const { data } = await callOperation(parts, call, 'runSavedQuery', { params, body })
      return toShown(QueryResult.parse(data).rows)
    }
    case 'connector': {
      const body = { action: binding.action, input }
      const { data } = await callOperation(parts, call, 'invokeConnector', { params, body }, slowMs)
      return toShown(ConnectorResult.parse(data).output)
    }
    case 'workflow':
      return runOf(parts, call, { input, waitSeconds: binding.waitSeconds })
    case 'report': {
      const { data } = await callOperation(
        parts,
        call,
        'runReport',
        { params, body: { parameters: input } },
        slowMs,
      )
      return toShown(QueryAnswer.parse(data).rows)
    }
    default:
      return assertNever(binding)
  }
}

/** Timeout of these calls, in milliseconds. */
const slowMs = 30_000

/**
 * Throws `upstream_error` for a run that failed within the wait time. A run that is still in progress is not an
 * error.
 */
async function runOf(
  parts: CallParts,
  call: SourceCall,
  { input, waitSeconds }: { input: unknown; waitSeconds: number },
): Promise<Shown> {
  const { data } = await callOperation(
    parts,
    call,
    'triggerWorkflow',
    { params: { id: call.source.pinned?.id }, query: { wait: waitSeconds }, body: { input } },
    slowMs,
  )
  const { runId, ended, status, output, error } = TriggeredRun.parse(data)
  if (error !== null) {
    const message = `The workflow has failed: ${error.message}`
    throw new ApiError('upstream_error', message, { details: [notRetryableDetail(message)] })
  }
  return { rows: null, value: { runId, ended, status, output }, nextCursor: null }
}

/** A list of objects becomes rows, anything else a value. */
export function toShown(value: unknown): Shown {
  const rows = z.array(z.record(z.string(), z.unknown())).safeParse(value)
  return rows.success
    ? { rows: rows.data, value: null, nextCursor: null }
    : { rows: null, value: value ?? null, nextCursor: null }
}
