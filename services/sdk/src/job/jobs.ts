import {
  type ArtifactUse,
  type CommandMeta,
  invalidField,
  missingPermissionError,
  missingRights,
  type NewScheduledJob,
  newId,
  type ScheduledJob,
  type ScheduledJobState,
  type TenantScope,
} from '@opsplane/contracts'
import type { FindPermission, RequestMeta } from '@opsplane/http'
import {
  findSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type ScheduleOwner,
  upsertSchedule,
} from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import type { ArtifactLoader } from '../artifact/loader.js'
import { validateInput } from '../invoke/schemas.js'
import { findNeededRights } from '../pack/needed-rights.js'
import { job } from './domain.js'

const jobOwner = (id: string, tenant: TenantScope): ScheduleOwner => ({ kind: 'job', id, tenant })

type Patch = { [Field in keyof ScheduledJobState]?: ScheduledJobState[Field] | undefined }
type Stored = ScheduledJobState & { version: number }

export interface Jobs {
  create(newJob: NewScheduledJob, meta: RequestMeta): Promise<ScheduledJob>
  get(id: string, tenant: TenantScope): Promise<ScheduledJob>
  update(id: string, patch: Patch, meta: RequestMeta): Promise<ScheduledJob>
  delete(id: string, meta: RequestMeta): Promise<void>
  /** Adds the time of the next run. */
  shown(stored: Stored, tenant: TenantScope): Promise<ScheduledJob>
  /** Synchronizes the schedule with the job's current state. */
  follow(id: string, tenant: TenantScope): Promise<void>
  /** Permissions a person lacks for the job's artifact; empty if the artifact is not installed. */
  missingFor(
    job: Pick<ScheduledJobState, 'artifact'>,
    permissions: readonly string[],
    tenant: TenantScope,
  ): Promise<string[]>
  /** Pauses an active job of this owner until a person with the rights resumes it. */
  suspend(
    id: string,
    owner: { ownerId: string; missing: readonly string[] },
    meta: CommandMeta,
  ): Promise<void>
  /** Jobs that run one of these artifacts. */
  uses(tenant: TenantScope, artifacts: readonly { slug: string }[]): Promise<ArtifactUse[]>
}

export function createJobs(
  { store, database: { sql } }: Pick<ServiceContext, 'store' | 'database'>,
  { loadArtifact }: Pick<ArtifactLoader, 'loadArtifact'>,
  permissionOf: FindPermission,
): Jobs {
  const jobs = store.aggregate(job)

  const missingFor: Jobs['missingFor'] = async ({ artifact: slug }, permissions, tenant) => {
    const artifact = await loadArtifact(tenant, slug)
    return artifact ? missingRights(permissions, await findNeededRights([artifact], permissionOf)) : []
  }

  /**
   * Throws `validation_failed` for a job that could not run, and `forbidden` if the artifact needs more rights than the
   * caller has.
   */
  async function check(
    { artifact: slug, input }: Pick<ScheduledJobState, 'artifact' | 'input'>,
    { tenant, principal }: Pick<RequestMeta, 'tenant' | 'principal'>,
  ) {
    const artifact = await loadArtifact(tenant, slug)
    if (!artifact)
      throw invalidField('/artifact', 'unknown_artifact', `There is no artifact ${slug} in this environment.`)
    validateInput(artifact.inputSchema, input)
    const missing = missingRights(principal.permissions, await findNeededRights([artifact], permissionOf))
    if (missing.length === 0) return
    const message = `Missing permissions for what this artifact does: ${missing.join(', ')}.`
    throw missingPermissionError(message, missing, '/artifact')
  }

  const follow: Jobs['follow'] = async (id, tenant) => {
    const found = await jobs.find(id, tenant)
    const owner = jobOwner(id, tenant)
    if (!found?.state) return void (await removeSchedule(sql, owner))
    await upsertSchedule(sql, owner, found.state.schedule)
    if (found.state.status === 'paused') return void (await pauseSchedule(sql, owner))
    const present = await findSchedule(sql, owner)
    if (present?.paused) await resumeSchedule(sql, owner)
  }

  const shown: Jobs['shown'] = async (stored, tenant) => {
    const schedule = await findSchedule(sql, jobOwner(stored.id, tenant))
    return { ...stored, nextRunAt: schedule?.nextAt ?? null, lastRunAt: schedule?.lastAt ?? null }
  }

  return {
    follow,
    shown,
    async create(newJob, meta) {
      await check(newJob, meta)
      const id = newId('job')
      const fields = { ...newJob, status: 'active' as const, ...ownedBy(meta) }
      const stored = await jobs.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
      await follow(id, meta.tenant)
      return shown(stored, meta.tenant)
    },
    get: async (id, tenant) => shown(await jobs.get(id, tenant), tenant),
    async update(id, patch, meta) {
      const present = await jobs.get(id, meta.tenant)
      const { artifact = present.artifact, input = present.input } = patch
      const isOwnerChange = hasItRun(patch)
      if (isOwnerChange) await check({ artifact, input }, meta)
      const change = isOwnerChange ? { ...patch, ...ownedBy(meta) } : patch
      const stored = await jobs.handle(id, { kind: 'update', patch: change, now: meta.now }, meta)
      await follow(id, meta.tenant)
      return shown(stored, meta.tenant)
    },
    async delete(id, meta) {
      await jobs.handle(id, { kind: 'delete' }, meta)
      await follow(id, meta.tenant)
    },
    missingFor,
    async suspend(id, { ownerId, missing }, meta) {
      const present = (await jobs.find(id, meta.tenant))?.state
      if (present?.status !== 'active' || present.ownerId !== ownerId) return
      const patch = { status: 'paused' as const, suspendedFor: [...missing] }
      await jobs.handle(id, { kind: 'update', patch, now: meta.now }, meta)
      await follow(id, meta.tenant)
    },
    async uses({ workspaceId, environment }, artifacts) {
      const rows = await sql.unsafe<ArtifactUse[]>(
        `select artifact, 'scheduled_job' as kind, id, state->>'name' as name from jobs
         where workspace_id = $1 and environment = $2 and artifact = any($3::text[]) order by id limit 200`,
        [workspaceId, environment, artifacts.map(({ slug }) => slug)],
        { prepare: true },
      )
      return [...rows]
    },
  }
}

/** From now on the job's executions act with the caller's rights. */
const ownedBy = ({ principal }: Pick<RequestMeta, 'principal'>) => ({
  ownerId: principal.userId,
  suspendedFor: [],
})

/** Whether the change makes an artifact run that would not have run before, or not at this time or with this input. */
const hasItRun = ({ artifact, input, schedule, status }: Patch): boolean =>
  artifact !== undefined || input !== undefined || schedule !== undefined || status === 'active'
