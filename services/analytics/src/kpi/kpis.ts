import {
  ApiError,
  invalidField,
  type Kpi,
  type KpiBackfill,
  type KpiPatch,
  type KpiState,
  type NewKpi,
  newId,
  notFound,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import { type Delegations, type RequestMeta, spanIn } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { type Limits, type Logger, startDeadline } from '@opsplane/runtime'
import { and, eq } from 'drizzle-orm'
import { mapQueryPointer } from '../query/invalid-query.js'
import type { QueryCaller, QueryRunner } from '../query/types.js'
import type { KpiCommand, KpiRecord } from './domain.js'
import { requestEvaluations } from './evaluations.js'
import { computeTrend } from './kpi-status.js'
import { buildKpiQuery, isOfFacts, measureKpi, toSourcePointer } from './measure.js'
import { computePeriod } from './period.js'
import { readLatestPoints, readRemarks } from './point-store.js'
import { kpis as table } from './tables.js'
import { defaultSchedule, pastTimes, updateSchedule } from './times.js'

export type KpiAggregate = Aggregate<KpiRecord, KpiCommand, Kpi>

export interface KpiService {
  create(newKpi: NewKpi, meta: RequestMeta): Promise<Kpi>
  update(id: string, patch: KpiPatch, meta: RequestMeta): Promise<Kpi>
  /** Measures the KPI with the caller's rights from now on. Throws `insufficient_scope` naming missing permissions. */
  takeOver(id: string, meta: RequestMeta): Promise<Kpi>
  remove(id: string, meta: RequestMeta): Promise<void>
  /** Adds the standing of each KPI. */
  shown(some: readonly Kpi[]): Promise<Kpi[]>
  /** Returns the number of times scheduled for measurement. Throws `conflict` for a KPI that is not based on facts. */
  backfill(id: string, options: KpiBackfill, meta: RequestMeta): Promise<number>
}

export interface KpiServiceOptions {
  database: Pick<Database, 'db' | 'sql'>
  kpis: KpiAggregate
  runner: QueryRunner
  delegations: Delegations
  toCaller(meta: RequestMeta): QueryCaller
  limits: Limits
  log: Logger
  wake(): void
}

const checkMs = 10_000

type Ownership = Pick<KpiRecord, 'owner' | 'ownerId' | 'suspendedFor'>

export function createKpiService(options: KpiServiceOptions): KpiService {
  const { database, kpis, runner, delegations, toCaller, limits, log, wake } = options

  /** Makes the person who defines the source the owner. */
  const ownedBy = async (id: string, meta: RequestMeta): Promise<Ownership> => {
    const { userId, permissions } = meta.principal
    const { grant } = await delegations.delegate(meta, { run: id, expiresInSeconds: null })
    return { owner: { userId, permissions, grant }, ownerId: userId, suspendedFor: [] }
  }
  const revoke = (grant: string) =>
    delegations
      .revoke(grant)
      .catch((error: unknown) =>
        log.warn(
          { err: error },
          "a standing grant could not be revoked; it ends with its owner's membership",
        ),
      )

  /** Throws if the source cannot be measured because it does not exist or the caller may not read it. */
  const check = async (state: Pick<KpiState, 'source' | 'timeZone' | 'period'>, meta: RequestMeta) => {
    const { source } = state
    if ('query' in source && !source.query.measures.includes(source.column))
      throw invalidField('/source/column', 'unknown', 'must be one of the measures of the query')
    const covered = computePeriod(state.period, state.timeZone, Date.parse(meta.now))
    await mapQueryPointer(toSourcePointer(state), async () => {
      runner.checkQuery(buildKpiQuery(state, covered).query)
      if (!isOfFacts(state)) return
      const { signal, clear } = startDeadline(checkMs, meta.signal())
      await measureKpi(runner, toCaller(meta), state, { covered, signal }).finally(clear)
    })
  }

  const refuseTooMany = async ({ tenant: { workspaceId, environment } }: RequestMeta) => {
    const max = limits.of('kpis', workspaceId)
    const own = and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))
    if (max > 0 && (await database.db.$count(table, own)) >= max)
      throw new ApiError(
        'quota_exceeded',
        `The workspace has reached its limit of ${max} KPIs in an environment. Delete one first.`,
      )
  }

  return {
    async create(newKpi, meta) {
      await refuseTooMany(meta)
      await check(newKpi, meta)
      const id = newId('kpi')
      const schedule = newKpi.schedule ?? defaultSchedule(newKpi.period, newKpi.timeZone)
      const fields = { ...newKpi, schedule, ...(await ownedBy(id, meta)) }
      return kpis.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
    },

    async update(id, patch, meta) {
      const found = await kpis.find(id, meta.tenant)
      const before = found?.state ?? (await kpis.get(id, meta.tenant))
      const after = { ...before, ...withoutUndefined(patch) }
      const schedule = patch.schedule ?? updateSchedule(before, after)
      const isMeasurementChanged =
        patch.source !== undefined || patch.period !== undefined || patch.timeZone !== undefined
      if (isMeasurementChanged) await check(after, meta)
      const owner = isMeasurementChanged ? await ownedBy(id, meta) : {}
      const command = {
        kind: 'update',
        patch: { ...withoutUndefined(patch), schedule, ...owner },
        now: meta.now,
      } as const
      const changed = await kpis.handle(id, command, meta)
      if (isMeasurementChanged && found) await revoke(found.state.owner.grant)
      return changed
    },

    async takeOver(id, meta) {
      const found = await kpis.find(id, meta.tenant)
      if (!found) throw notFound()
      const { owner: before, ...state } = found.state
      await check(state, meta)
      const command = { kind: 'update', patch: await ownedBy(id, meta), now: meta.now } as const
      const changed = await kpis.handle(id, command, meta)
      await revoke(before.grant)
      return changed
    },

    async remove(id, meta) {
      const found = await kpis.find(id, meta.tenant)
      await kpis.handle(id, { kind: 'delete' }, meta)
      if (found) await revoke(found.state.owner.grant)
    },

    async backfill(id, { replace, timeZone, ...bounds }, meta) {
      const state = await kpis.get(id, meta.tenant)
      if (!isOfFacts(state))
        throw new ApiError('conflict', 'Only what is measured of a dataset can be measured for the past.')
      const { from, to } = spanIn(timeZone ?? state.timeZone, bounds)
      const until = Math.min(Date.parse(to ?? meta.now), Date.parse(meta.now))
      const times = pastTimes(state, { from: Date.parse(from), to: until })
      const request = { kpiId: id, tenant: meta.tenant, times, backfill: true, replace, now: meta.now }
      const added = await requestEvaluations(database.sql, request)
      wake()
      return added
    },

    async shown(some) {
      const ids = some.map(({ id }) => id)
      const [points, remarks] = await Promise.all([
        readLatestPoints(database.sql, ids),
        readRemarks(database.sql, ids),
      ])
      return some.map((one) => {
        const [latest, before] = points.get(one.id) ?? []
        const trend = latest && before ? computeTrend(latest.value, before.value, one.direction) : null
        const { nextAt = null, error = null } = remarks.get(one.id) ?? {}
        return { ...one, standing: { latest: latest ?? null, trend, nextAt, error } }
      })
    },
  }
}

/** API representation directly after a change, without reading its values. */
export const presentKpi = ({ owner: _, ...state }: KpiRecord, version: number): Kpi => ({
  ...state,
  suspendedFor: state.suspendedFor ?? [],
  standing: { latest: null, trend: null, nextAt: null, error: null },
  version,
})

/** The fields of a patch that have a value. */
const withoutUndefined = (patch: KpiPatch): Partial<KpiState> =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
