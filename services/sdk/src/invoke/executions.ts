import { randomUUID } from 'node:crypto'
import { ApiError, type Execution, newId, type TenantScope } from '@opsplane/contracts'
import { startMonths } from '@opsplane/eventstore'
import { createChangedSignals, publishHint } from '@opsplane/nats'
import { releaseStatement, residentWorker, type StatementRunner } from '@opsplane/postgres'
import { systemClock } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { ArtifactLoader } from '../artifact/loader.js'
import { createExecutionMetrics } from '../execution/metrics.js'
import type { ExecutionIdentity, ExecutionPlan, NewExecution } from '../execution/model.js'
import { presentExecution } from '../execution/present-execution.js'
import { getExecution } from '../execution/queries.js'
import { createExecutionStore } from '../execution/store.js'
import { dueExecutions } from '../execution/tables.js'
import { waitForEarlierExecutions, wakeNextExecution } from '../execution/trigger-queue.js'
import { createInFlightExecutions, type InFlightExecution, type StopReason } from './in-flight-executions.js'
import { canStart, type LeasedExecution, leasedColumns, toCaller, toIdentity } from './leased-execution.js'
import type { ExecutionRequest } from './request.js'
import type { CallerResult, ReadResult } from './results.js'
import {
  type CodeRun,
  type CodeRunResult,
  interruptedOutcome,
  type RunCode,
  redactUnresolvedInput,
  refuseSuspended,
} from './run-code.js'
import type { ExecutionSealing } from './sealing.js'
import type { WithinQuota } from './trace-quota.js'

export interface ExecutionsOptions {
  perform: RunCode
  loading: Pick<ArtifactLoader, 'loadArtifact'>
  sealing: ExecutionSealing
  readResult: ReadResult
  withinQuota: WithinQuota
  /** Maximum number of executions in flight, in total and of one workspace. */
  limits: { all: number; ofOne: number }
  leaseMs: number
}

/**
 * Executions of artifacts. Each is committed before its code starts, and its end is logged even if processes are
 * killed.
 */
export interface Executions {
  /**
   * Runs an artifact in this replica; resolves once the execution is in the log. Returns `undefined` if its key has
   * already led to one. Throws `rate_limited` if there is no capacity, and `conflict` for a suspended artifact.
   */
  run(request: ExecutionRequest): Promise<CallerResult | undefined>
  /**
   * Accepts an execution for any replica to start, optionally in the caller's transaction; `wake` is to be called after
   * the commit.
   */
  accept(request: ExecutionRequest, tx?: StatementRunner): Promise<Execution | undefined>
  /** Cancels a running execution. Returns false if no such execution is running. */
  cancel(id: string, tenant: TenantScope): Promise<boolean>
  /** Cancels the executions of a trigger, within a transaction. */
  cancelAll(tx: StatementRunner, triggerId: string, tenant: TenantScope): Promise<void>
  /** To be called after the commit of a transaction that accepted executions. */
  wake(): void
  readonly background: BackgroundWork[]
}

const firstFence = '1'
const nothing = { result: undefined, input: undefined, records: [] }

type Finished = CodeRunResult & { completedAt: string }

export function createExecutions(ctx: ServiceContext, options: ExecutionsOptions): Executions {
  const { database, dueWork, relay, log } = ctx
  const { perform, loading, sealing, readResult, withinQuota, limits, leaseMs } = options
  const owner = `${ctx.config.instanceId}:${randomUUID()}`
  const closing = new AbortController()
  const measured = createExecutionMetrics(ctx.metrics)
  const simulated = ctx.clock === systemClock ? undefined : ctx.clock
  const signals = createChangedSignals({
    ...{ names: ctx.names, type: 'execution' },
    publish: (subject, payload) => publishHint(ctx.link, subject, payload),
  })
  const store = createExecutionStore({
    ...{ database, leaseMs, announce: relay.wake, closing: closing.signal, changed: signals.changed },
    at: () => simulated?.now() ?? null,
  })
  const executionsInFlight = createInFlightExecutions<LeasedExecution>({
    limits,
    workspaceOf: (row) => row.workspace_id,
    resume: (row, execution) =>
      resume(row, execution).catch((err: unknown) =>
        log.error(
          { err, execution: row.key },
          'this replica has given up an execution; another one takes it over when its lease expires',
        ),
      ),
    releaseLeases: async (rows) => {
      const { text, parameters } = releaseStatement(dueExecutions, rows)
      await database.sql.unsafe(text, parameters, { prepare: true })
    },
  })
  const due = dueWork.start(
    residentWorker<LeasedExecution>({
      ...{ name: 'executions', of: dueExecutions, columns: leasedColumns, leaseMs },
      work: executionsInFlight,
    }),
  )

  /** Runs the code and records the result. Returns `undefined` if this replica no longer owns the execution. */
  async function finish(performance: CodeRun): Promise<Finished | undefined> {
    const ran = await perform(performance)
    if (!ran) return undefined
    const performed = withinQuota(performance, ran)
    const completedAt = ctx.clock.now()
    const isOurs = await end(performance, { ...performed, completedAt })
    return isOurs ? { ...performed, completedAt } : undefined
  }

  async function end({ identity, inFlight }: Pick<CodeRun, 'identity' | 'inFlight'>, finished: Finished) {
    const { result, ...shown } = finished
    const seal = result && (() => sealing.result.seal(identity, result))
    const isOurs = await store.end({ identity, fence: inFlight.fence, ...shown }, seal)
    if (!isOurs) return false
    measured(finished.outcome)
    if (identity.trigger.type === 'scheduled_job') hasEnded(identity.trigger.id)
    return true
  }

  /** Starts the next execution waiting for the trigger; if that fails, the regular check does so later. */
  function hasEnded(triggerId: string | null): void {
    if (triggerId === null) return
    wakeNextExecution(database.sql, triggerId)
      .then(() => due.wake())
      .catch((err: unknown) => log.warn({ err }, 'what waits for an execution is begun some seconds later'))
  }

  async function resume(row: LeasedExecution, inFlight: InFlightExecution): Promise<void> {
    const identity = toIdentity(row)
    const { plan } = row
    if (plan?.inTurn && (await waitForEarlierExecutions(database.sql, inFlight, simulated?.now() ?? null)))
      return
    const fail = (code: string, message: string) => {
      const outcome = {
        ...interruptedOutcome(message),
        logs: [],
        durationMs: sinceMs(row.started_at),
        memoryPeakMb: 0,
      }
      outcome.error = { code, message, stack: '' }
      const completedAt = ctx.clock.now()
      return end({ identity, inFlight }, { ...nothing, outcome, completedAt })
    }
    if (plan === null || !canStart(row))
      return void (await fail('interrupted', 'The process it ran in has ended before it.'))
    const artifact = await loading.loadArtifact(
      identity.tenant,
      identity.artifact.id,
      identity.artifact.version,
    )
    if (!artifact) return void (await fail('artifact_removed', 'The artifact is not there any more.'))
    if (artifact.status === 'suspended')
      return void (await fail('artifact_suspended', 'The artifact was suspended before it could be run.'))
    inFlight.mayPass = plan.retryable
    const { timeoutMs, entry, sealedInput } = plan
    const input = sealedInput === undefined ? row.input : await sealing.input.open(identity, sealedInput)
    const limits = { caller: toCaller(plan), timeoutMs: timeoutMs ?? undefined }
    await finish({ identity, artifact, input, inFlight, entry, ...limits })
  }

  const sinceMs = (startedAt: string) =>
    Math.max(Math.round(Date.parse(ctx.clock.now()) - Date.parse(startedAt)), 0)

  /** Marks executions as ended: their workers find the lease lost. */
  async function endWhere(
    sql: StatementRunner,
    { workspaceId, environment }: TenantScope,
    [column, value]: ['id' | 'trigger_id', string],
  ) {
    const rows = await sql.unsafe<{ id: string; trigger: string; triggerId: string | null }[]>(
      `update executions set status = 'cancelled', lease_fence = lease_fence + 1, lease_owner = null, held_until = null,
         plan = null, change_position = nextval('execution_changes'),
         completed_at = greatest(now(), started_at), logs = '[]', memory_peak_mb = 0,
         duration_ms = (extract(epoch from greatest(now(), started_at) - started_at) * 1000)::int
       where completed_at is null and workspace_id = $1 and environment = $2 and ${column} = $3
       returning id, trigger_type as trigger, trigger_id as "triggerId"`,
      [workspaceId, environment, value],
      { prepare: true },
    )
    for (const { id } of rows) {
      executionsInFlight.get(id)?.ending.abort('cancelled' satisfies StopReason)
      signals.changed({ workspaceId, environment }, id)
    }
    return rows
  }

  return {
    async run(request) {
      refuseSuspended(request.artifact)
      const identity = identityFor(request)
      const inFlight: InFlightExecution = {
        ...{ id: identity.id, workspaceId: identity.tenant.workspaceId, fence: firstFence, isLeased: false },
        ...{ ending: new AbortController(), mayPass: false },
      }
      const leave = executionsInFlight.enter(inFlight)
      if (!leave) throw noRoom(limits.ofOne)
      try {
        const begun = newExecution(request, identity, { owner, plan: null })
        if (!(await store.begin(begun))) return undefined
        inFlight.isLeased = true
        const { artifact, input, caller, timeoutMs, entry, hostOverride, contextNow, faultOf } = request
        const { traceparent } = request
        const finished = await finish({
          ...{ identity, artifact, input, inFlight, caller, timeoutMs, entry },
          ...{ hostOverride, contextNow, faultOf, traceparent },
        })
        if (!finished) return await readResult(await getExecution(database.sql, identity.id, identity.tenant))
        const { outcome, result, completedAt, input: shown = begun.input } = finished
        const execution = presentExecution(identity, shown, { ...outcome, ...result }, completedAt)
        return { execution, isSealed: result !== undefined, secrets: result?.secrets ?? [] }
      } finally {
        leave()
      }
    },

    async accept(request, tx) {
      refuseSuspended(request.artifact)
      const identity = identityFor(request)
      const { artifact, timeoutMs = null, entry = null, caller, input } = request
      const plan: ExecutionPlan = {
        ...{ timeoutMs, entry, retryable: artifact.retryable, permissions: caller?.permissions ?? null },
        ...(caller && { callers: caller.people }),
      }
      if (request.inTurn) plan.inTurn = true
      const begun = newExecution(request, identity, { owner: null, plan })
      if (begun.inputMasked) plan.sealedInput = await sealing.input.seal(identity, input)
      if (!(await store.begin(begun, tx))) return undefined
      if (!tx) due.wake()
      return presentExecution(identity, begun.input)
    },

    async cancel(id, tenant) {
      const endedRows = await endWhere(database.sql, tenant, ['id', id])
      for (const { trigger, triggerId } of endedRows) if (trigger === 'scheduled_job') hasEnded(triggerId)
      return endedRows.length > 0
    },
    cancelAll: async (tx, triggerId, tenant) => void (await endWhere(tx, tenant, ['trigger_id', triggerId])),
    wake: () => due.wake(),
    background: [
      startMonths(database.sql, log, 'add_execution_month'),
      signals,
      {
        async close() {
          await store.idle()
          closing.abort()
        },
      },
    ],
  }
}

function identityFor({
  tenant,
  artifact,
  type,
  trigger,
  now,
  ...request
}: ExecutionRequest): ExecutionIdentity {
  const { replayOf = null, depth = 0, requestId } = request
  const { id, slug, version, kind } = artifact
  return {
    ...{ id: newId('execution'), tenant, type, trigger, replayOf, depth, requestId, startedAt: now },
    artifact: { id, slug, version, kind },
  }
}

function newExecution(
  { input, key = null, records = [] }: ExecutionRequest,
  identity: ExecutionIdentity,
  by: Pick<NewExecution, 'owner' | 'plan'>,
): NewExecution {
  const shown = redactUnresolvedInput(input)
  return { identity, input: shown, inputMasked: shown !== input, key, records, ...by }
}

const noRoom = (max: number) =>
  new ApiError('rate_limited', `${max} executions of the workspace are in flight here already.`, {
    headers: { 'Retry-After': '1' },
  })
