import {
  ApiError,
  type CommandMeta,
  Environment,
  type ErrorCode,
  endedKey,
  type KpiPoint,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate, EventStore } from '@opsplane/eventstore'
import {
  type CreateWorker,
  isoText,
  type LeasedRow,
  leasedWorker,
  type StatementRunner,
} from '@opsplane/postgres'
import { z } from 'zod'
import type { Owners } from '../export/owner.js'
import type { QueryRunner } from '../query/types.js'
import { isSuspended, type KpiCommand, type KpiRecord } from './domain.js'
import { computeStatus, findTarget, isCrossing, isKnown } from './kpi-status.js'
import { measureKpi } from './measure.js'
import { computePeriod } from './period.js'
import { lockStanding, saveError, savePoint, saveStanding } from './point-store.js'
import { dueEvaluations } from './tables.js'

const Claimed = z.object({
  key: z.string(),
  at: z.string(),
  failures: z.number(),
  kpiId: z.string(),
  workspaceId: z.string(),
  environment: Environment,
  time: z.string().transform((text) => Date.parse(text)),
  backfill: z.boolean(),
  replace: z.boolean(),
})
type Claimed = z.infer<typeof Claimed>
const columns = [
  ...['kpi_id as "kpiId"', 'workspace_id as "workspaceId"', 'environment', 'backfill', 'replace'],
  `${isoText('kpi_evaluations.at')} as "time"`,
]

export interface EvaluationOptions {
  kpis: Aggregate<KpiRecord, KpiCommand, unknown>
  eventStore: Pick<EventStore, 'within'>
  runner: Pick<QueryRunner, 'runQuery'>
  owners: Owners
}

type Outcome =
  | { kind: 'measured'; point: KpiPoint }
  | { kind: 'refused'; error: string }
  | { kind: 'suspended'; error: string; ownerId: string; missing: string[] }
  | { kind: 'gone' }

/** Not everything that happened within the period is in the facts yet. */
class TooEarlyError extends Error {
  override name = 'TooEarlyError'
}

export const evaluationWorkName = 'kpi evaluations'
const batch = 8
const deadlineMs = 60_000
const retry = { baseMs: 1_000, maxMs: 60_000 }
/** For failures not caused by the KPI and not permanent: about two hours. */
const maxAttempts = 120

/** Measures KPIs: scheduled times of each KPI in order, backfilled times in any order. */
export function evaluationWork(options: EvaluationOptions): CreateWorker {
  const { kpis, owners, runner } = options

  const evaluate = async (evaluation: Claimed, signal: AbortSignal): Promise<Outcome> => {
    const tenant: TenantScope = { workspaceId: evaluation.workspaceId, environment: evaluation.environment }
    const found = await kpis.find(evaluation.kpiId, tenant)
    if (!found) return { kind: 'gone' }
    const { state } = found
    if (isSuspended(state)) return { kind: 'gone' }
    try {
      const caller = await owners.resolveCaller(state.owner, tenant)
      const covered = computePeriod(state.period, state.timeZone, evaluation.time)
      const { value, dataAsOf } = await measureKpi(runner, caller, state, { covered, signal })
      // Events arriving later would make a second measurement of the same period differ.
      if (Date.parse(dataAsOf) < covered.to) throw new TooEarlyError(`the facts are of ${dataAsOf}`)
      const target = findTarget(state, covered)
      const status = computeStatus(value, target, state.direction)
      const [at, from, to] = [evaluation.time, covered.from, covered.to].map((ms) =>
        new Date(ms).toISOString(),
      )
      const when = { at: at ?? '', from: from ?? '', to: to ?? '', measuredAt: evaluation.at }
      const judged = { value, target: target?.value ?? null, status }
      return {
        kind: 'measured',
        point: { ...when, ...judged, timeZone: state.timeZone, backfilled: evaluation.backfill },
      }
    } catch (error) {
      const missing = findMissingRights(error)
      if (missing) return { kind: 'suspended', ...missing, ownerId: state.ownerId }
      if (error instanceof ApiError && error.status < 500 && !error.retryable)
        return { kind: 'refused', error: error.message }
      if (evaluation.failures + 1 >= maxAttempts)
        return { kind: 'refused', error: 'It could not be measured, as a dependency was unavailable.' }
      throw error
    }
  }

  return leasedWorker<LeasedRow, { asked: Claimed; outcome: Outcome }>({
    ...{ name: evaluationWorkName, of: dueEvaluations, columns, batch, deadlineMs, retry },
    // Scheduled times are measured in order, so that each crossing is reported once.
    where: `(backfill or not exists (select 1 from kpi_evaluations earlier where earlier.kpi_id = kpi_evaluations.kpi_id
      and not earlier.backfill and earlier.at < kpi_evaluations.at))`,
    perform: (rows, signal) =>
      Promise.all(
        rows.map(async (row) => {
          const evaluation = Claimed.parse(row)
          return { asked: evaluation, outcome: await evaluate(evaluation, signal) }
        }),
      ),
    async done(tx, finished) {
      for (const { result } of finished) await settle(options, tx, result.asked, result.outcome)
    },
  })
}

async function settle(
  { kpis, eventStore }: EvaluationOptions,
  tx: StatementRunner,
  evaluation: Claimed,
  outcome: Outcome,
): Promise<void> {
  await tx.unsafe('delete from kpi_evaluations where id = $1', [evaluation.key])
  if (outcome.kind === 'gone') return
  if (outcome.kind === 'suspended') return suspend({ kpis, eventStore }, tx, evaluation, outcome)
  if (outcome.kind === 'refused') return void (await saveError(tx, evaluation.kpiId, outcome.error))
  const { point } = outcome
  const isNew = await savePoint(tx, evaluation.kpiId, point, evaluation.replace)
  if (evaluation.backfill || !isNew) return
  await saveError(tx, evaluation.kpiId, null)
  const { status: previousStatus, at } = await lockStanding(tx, evaluation.kpiId, point.at)
  if (!isKnown(point.status) || (at !== null && at >= point.at)) return
  await saveStanding(tx, evaluation.kpiId, point)
  if (isCrossing(previousStatus, point.status))
    await decide({ kpis, eventStore }, tx, evaluation, { kind: 'cross', point, previousStatus })
}

async function suspend(
  options: Pick<EvaluationOptions, 'kpis' | 'eventStore'>,
  tx: StatementRunner,
  evaluation: Claimed,
  { error, ownerId, missing }: Extract<Outcome, { kind: 'suspended' }>,
): Promise<void> {
  await saveError(tx, evaluation.kpiId, error)
  await decide(options, tx, evaluation, { kind: 'suspend', now: evaluation.at, ownerId, missing })
}

async function decide(
  { kpis, eventStore }: Pick<EvaluationOptions, 'kpis' | 'eventStore'>,
  tx: StatementRunner,
  { kpiId, workspaceId, environment, at: now }: Claimed,
  command: KpiCommand,
): Promise<void> {
  const tenant: TenantScope = { workspaceId, environment }
  const meta: CommandMeta = { tenant, actor: systemActor, now, requestId: null }
  await eventStore.within(tx, meta, async (unit) => {
    if (await unit.find(kpis, kpiId)) await unit.handle(kpis, kpiId, command)
  })
}

const lostRights = new Set([
  'forbidden',
  'insufficient_scope',
  'workspace_forbidden',
  'invalid_token',
  'token_expired',
])

/** The permissions the owner lacks, if they are the reason for the failure. */
function findMissingRights(error: unknown): { error: string; missing: string[] } | undefined {
  if (!(error instanceof ApiError) || !lostRights.has(error.code)) return undefined
  const namedRights = error.details.flatMap(({ params }) => Missing.parse(params?.missing))
  return {
    error: error.message,
    missing: namedRights.length > 0 ? namedRights : [endedGrantReasons[error.code] ?? error.code],
  }
}

/** Reported as missing if the grant itself has ended. */
const endedGrantReasons: Partial<Record<ErrorCode, string>> = {
  invalid_token: endedKey,
  token_expired: endedKey,
  workspace_forbidden: 'membership',
}

const Missing = z.array(z.string()).catch([])
