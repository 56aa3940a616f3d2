import {
  ApiError,
  type ExecutionError,
  type ExecutionLogEntry,
  type JsonValue,
  stringifyExact,
} from '@opsplane/contracts'
import { findValidationFault, resolveHostFunctions } from '@opsplane/pack-format'
import {
  createRedaction,
  type Logger,
  maskValue,
  type Redact,
  secretsFoundIn,
  secretsIn,
} from '@opsplane/runtime'
import type { CodeOutcome, CodeRunner, HostFunctions, Json } from '@opsplane/sandbox'
import { inSpan } from '@opsplane/telemetry'
import type { LoadedArtifact } from '../artifact/loader.js'
import type { ExecutionIdentity, Outcome, Result, TouchedRecord } from '../execution/model.js'
import { createHost, type HostFunctionTable } from './host/host.js'
import type { InFlightExecution, StopReason } from './in-flight-executions.js'
import type { ExecutionRequest } from './request.js'
import { findOutputFault } from './schemas.js'

export interface RunCodeOptions {
  runner: Pick<CodeRunner, 'run'>
  functions: HostFunctionTable
  log: Logger
}

export interface CodeRun {
  identity: ExecutionIdentity
  artifact: LoadedArtifact
  /** The input passed to the code. */
  input: JsonValue
  inFlight: InFlightExecution
  caller?: ExecutionRequest['caller'] | undefined
  traceparent?: ExecutionRequest['traceparent']
  timeoutMs?: number | undefined
  entry?: string | null | undefined
  hostOverride?: HostFunctions | undefined
  contextNow?: string | undefined
  faultOf?: ExecutionRequest['faultOf'] | undefined
}

/** The result of running the code. */
export interface CodeRunResult {
  /** The outcome as shown to users. */
  outcome: Outcome
  /** The result for the caller; `undefined` if it equals the shown outcome. */
  result: Result | undefined
  /** The input to show, if it differs from the stored one. */
  input: JsonValue | undefined
  records: TouchedRecord[]
}

/** Resolves to `undefined` if the lease is lost, or the execution is left to the replica that takes it over. */
export type RunCode = (performance: CodeRun) => Promise<CodeRunResult | undefined>

/** Maximum number of touched records stored for an execution. */
const maxRecords = 500

/** Runs the code of an artifact once. Never rejects. */
export function createRunCode({ runner, functions, log }: RunCodeOptions): RunCode {
  return (work) => inSpan('execution', work.traceparent, (traceparent) => performed({ ...work, traceparent }))

  async function performed(work: CodeRun): ReturnType<RunCode> {
    const { identity, artifact, input, inFlight, caller, timeoutMs, entry, hostOverride, contextNow } = work
    const { traceparent } = work
    const records = new Map<string, TouchedRecord>()
    const secrets = new Set(secretsIn(input))
    const wallMs = Math.min(artifact.limits.wallMs, timeoutMs ?? artifact.limits.wallMs)
    const startedMs = performance.now()
    const host = createHost({
      ...{ functions, log, leftMs: () => wallMs - (performance.now() - startedMs) },
      context: {
        ...{
          executionId: identity.id,
          depth: identity.depth,
          tenant: identity.tenant,
          artifact,
          caller,
          traceparent,
        },
        touch: (record) => {
          if (records.size < maxRecords) records.set(`${record.table}/${record.id}`, record)
        },
        conceal: (values) => {
          for (const value of values) secrets.add(value)
        },
      },
    })
    const ran = await runner
      .run({
        tenant: `${identity.tenant.workspaceId}/${identity.tenant.environment}`,
        code: artifact.code,
        ...(entry && { entry }),
        args: [input],
        context: contextOf(identity, contextNow),
        limits: { ...artifact.limits, wallMs },
        ...resolveHostFunctions(artifact.permissions),
        host: hostOverride ?? host,
        signal: inFlight.ending.signal,
      })
      .catch((error: unknown) => unavailable(error, performance.now() - startedMs, log))
    const outcome = outcomeOf(ran, work)
    if (!outcome) return undefined
    return { ...shownOf(outcome, input, [...secrets]), records: [...records.values()] }
  }
}

/** Returns what is stored for users, with secrets masked, and the complete result if it contains secrets. */
function shownOf(
  outcome: Outcome,
  input: JsonValue,
  secrets: readonly string[],
): Omit<CodeRunResult, 'records'> {
  const { output, error, logs } = outcome
  const redact = createRedaction(secrets)
  const shown = { output: maskValue(output, redact), error: maskedError(error, redact) }
  const shownInput = maskValue(input, redact)
  return {
    outcome: { ...outcome, ...shown, logs: logs.map((entry) => maskedEntry(entry, redact)) },
    result:
      shown.output === output && shown.error === error ? undefined : resultOf({ output, error }, secrets),
    input:
      JSON.stringify(shownInput) === JSON.stringify(redactUnresolvedInput(input)) ? undefined : shownInput,
  }
}

const resultOf = (result: Result, secrets: readonly string[]): Result => ({
  ...result,
  secrets: secretsFoundIn(stringifyExact(result), secrets),
})

const maskedEntry = (entry: ExecutionLogEntry, redact: Redact): ExecutionLogEntry => ({
  ...entry,
  message: redact(entry.message),
  data: maskValue(entry.data, redact),
})

function maskedError(error: ExecutionError | null, redact: Redact): ExecutionError | null {
  if (error === null) return null
  const { thrown } = error
  const shown: ExecutionError = {
    ...{ code: error.code, message: redact(error.message), stack: redact(error.stack) },
    ...(thrown && {
      thrown: {
        name: redact(thrown.name),
        code: thrown.code && redact(thrown.code),
        cause: thrown.cause && redact(thrown.cause),
      },
    }),
  }
  return JSON.stringify(shown) === JSON.stringify(error) ? error : shown
}

/** Masks an input by its field names only, before the values of secrets are known. */
export const redactUnresolvedInput = (input: JsonValue): JsonValue =>
  maskValue(input, createRedaction(secretsIn(input)))

const contextOf = (
  { id, artifact, trigger, tenant, startedAt }: ExecutionIdentity,
  now: string = startedAt,
): Json => ({
  executionId: id,
  artifact: { slug: artifact.slug, version: artifact.version },
  trigger: { type: trigger.type, id: trigger.id },
  workspaceId: tenant.workspaceId,
  environment: tenant.environment,
  now,
})

function unavailable(error: unknown, durationMs: number, log: Logger): CodeOutcome {
  log.warn({ err: error }, 'an artifact could not be run')
  const message = 'The sandbox was full or shutting down.'
  return {
    ...{ status: 'failed', output: null, error: { code: 'sandbox_unavailable', message, stack: '' } },
    ...{ logs: [], logsTruncated: false, durationMs, cpuMs: 0, memoryPeakMb: 0 },
  }
}

export const interruptedOutcome = (message: string): Pick<Outcome, 'status' | 'output' | 'error'> => ({
  status: 'failed',
  output: null,
  error: { code: 'interrupted', message, stack: '' },
})

function outcomeOf(ran: CodeOutcome, { artifact, input, inFlight, faultOf }: CodeRun): Outcome | undefined {
  const outcome: Outcome = {
    ...{ status: ran.status, output: ran.output, error: ran.error, logs: ran.logs },
    ...{ durationMs: Math.round(ran.durationMs), memoryPeakMb: Math.ceil(ran.memoryPeakMb) },
  }
  const reason = inFlight.ending.signal.aborted ? (inFlight.ending.signal.reason as StopReason) : undefined
  if (reason !== undefined && ran.status !== 'completed') {
    if (reason !== 'stopped' || inFlight.mayPass) return undefined
    return { ...outcome, ...interruptedOutcome('The service was stopped while it ran.') }
  }
  if (ran.status !== 'completed') return outcome
  const { output } = ran
  const fault = findOutputFault(artifact.outputSchema, output) ?? faultOf?.(output)
  const wrong = fault
    ? `${fault.path || '/'} ${fault.message}`
    : findValidationFault(artifact.rule, { input, output })
  if (wrong === undefined) return outcome
  const message = `The output does not match the schema of the artifact: ${wrong}`
  return { ...outcome, status: 'failed', error: { code: 'invalid_output', message, stack: '' } }
}

/** Throws `conflict` for a suspended artifact. */
export function refuseSuspended({ status, slug }: LoadedArtifact): void {
  if (status === 'active') return
  const message = `The artifact ${slug} is suspended: its installer lacks a permission that it needs.`
  throw new ApiError('conflict', message, {
    details: [{ in: 'path', path: '/id', code: 'artifact_suspended', message }],
  })
}
