import { ApiError } from '@opsplane/contracts'
import { type ScheduleRow, type StatementRunner, scheduleWork } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { ArtifactLoader } from '../artifact/loader.js'
import type { Executions } from '../invoke/executions.js'
import { findInputRecords } from '../invoke/invoker.js'
import { validateInput } from '../invoke/schemas.js'
import { job } from './domain.js'
import type { Jobs } from './jobs.js'

export interface SchedulesOptions {
  jobs: Pick<Jobs, 'follow'>
  executions: Executions
  loading: Pick<ArtifactLoader, 'loadArtifact'>
}

/**
 * Starts the executions of scheduled jobs, each due time once. Schedules are derived from the jobs' current state, so
 * redelivered and late events do no harm.
 */
export function startSchedules(
  { consume, dueWork, store, log }: ServiceContext,
  { jobs, executions, loading }: SchedulesOptions,
): BackgroundWork {
  const stored = store.aggregate(job)

  async function begin(
    tx: StatementRunner,
    { ownerId, tenant, at }: ScheduleRow,
    { fireAt, inTurn }: { fireAt: string; inTurn: boolean },
  ) {
    const state = (await stored.find(ownerId, tenant))?.state
    const artifact = state && (await loading.loadArtifact(tenant, state.artifact))
    if (!artifact)
      return log.warn({ job: ownerId }, 'a scheduled job names an artifact that is not installed')
    const input = validateInput(artifact.inputSchema, state.input)
    await executions.accept(
      {
        ...{ tenant, artifact, input, now: at, requestId: null, type: 'scheduled' },
        trigger: { type: 'scheduled_job', id: ownerId },
        ...(state.ownerId && {
          caller: { permissions: null, people: [{ userId: state.ownerId, tokenId: '' }] },
        }),
        key: { key: `job/${ownerId}/${fireAt}`, fingerprint: null },
        ...{ inTurn, records: findInputRecords(input) },
      },
      tx,
    )
  }

  const work = dueWork.start(
    scheduleWork({
      name: 'scheduled jobs',
      isActive: goingOn,
      async fire(tx, row, fireAt, how) {
        if (how === 'replace') await executions.cancelAll(tx, row.ownerId, row.tenant)
        try {
          await begin(tx, row, { fireAt, inTurn: how === 'queue' })
        } catch (error) {
          // The job's input or the artifact is invalid at present: the next due time is a new attempt.
          if (!(error instanceof ApiError) || error.status >= 500) throw error
          log.warn({ err: error, job: row.ownerId }, 'a scheduled job could not be run')
        }
      },
      committed: executions.wake,
    }),
  )
  return consume({
    durable: 'sdk-schedules',
    types: ['scheduled_job.*'],
    perform: async (events) => {
      for (const { resource, workspaceId, environment } of events)
        await jobs.follow(resource.id, { workspaceId, environment })
      work.wake()
    },
  })
}

/** Number of executions of the job that have not ended. */
async function goingOn(tx: StatementRunner, { ownerId }: ScheduleRow): Promise<number> {
  const [row] = await tx.unsafe<{ count: number }[]>(
    'select count(*)::int as count from executions where trigger_id = $1 and completed_at is null',
    [ownerId],
    { prepare: true },
  )
  return row?.count ?? 0
}
