import {
  canonicalJson,
  type Instant,
  JsonValue,
  notFound,
  type ReadModelRow,
  stringifyExact,
  type TenantScope,
  WorkflowDefinition,
  type WorkflowVersion,
} from '@opsplane/contracts'
import { type Database, keysetPage, type StatementRunner } from '@opsplane/postgres'
import { type CursorCodec, sha256Hex } from '@opsplane/runtime'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { workflowVersions as table } from './tables.js'

/** An immutable stored version. The giver of its rights is not part of it. */
export const StoredVersion = z.object({
  workflowId: z.string(),
  /** 0 for a tested draft. */
  number: z.int().min(0),
  name: z.string(),
  note: z.string(),
  definition: WorkflowDefinition,
  digest: z.string(),
  stepCount: z.int(),
  publishedAt: z.string(),
  publishedBy: z.string(),
  /** Keys of the events its steps may wait for: `workspace/environment/type or pattern`. */
  awaitedKeys: z.array(z.string()),
  /** Outputs that replace the execution of steps in the test of a draft. */
  pins: z.record(z.string(), JsonValue).default({}),
})
export type StoredVersion = z.infer<typeof StoredVersion>

/** Id of the row a run is pinned to. */
export const versionRef = (workflowId: string, number: number) => `${workflowId}.${number}`
export const testRef = (workflowId: string, testId: string) => `${workflowId}.0.${testId}`

export const computeDigest = (definition: WorkflowDefinition) => sha256Hex(canonicalJson(definition))

/** `grant`: its first grant, from which a trigger creates its row in `version_grants`. */
export const versionRow = (id: string, version: StoredVersion, grant: string): ReadModelRow => ({
  table: 'workflow_versions',
  id,
  state: { ...version, grant },
})

export const draftRow = (id: string, definition: WorkflowDefinition, now: Instant): ReadModelRow => ({
  table: 'workflow_drafts',
  id,
  state: { definition, updatedAt: now },
})

export interface Versions {
  /**
   * Loads the version with this row id, which never changes. Transactions pass their own `sql`. Throws `not_found` if
   * the version does not exist or belongs to another tenant.
   */
  load(ref: string, tenant: TenantScope, sql?: StatementRunner): Promise<StoredVersion>
  /** Stores a draft to be tested, which is not part of any event. */
  keep(ref: string, version: StoredVersion, grant: string, tenant: TenantScope): Promise<void>
  draft(workflowId: string, tenant: TenantScope): Promise<WorkflowDefinition>
  list(
    workflow: { id: string; publishedVersion: number | null },
    tenant: TenantScope,
    page: { limit: number; after: string | undefined; binding: string },
  ): ReturnType<typeof keysetPage<WorkflowVersion>>
}

const maxKept = 500
const Row = z.object({ state: z.unknown() })

/** Definitions are parsed once; the least recently used are evicted first. */
export function createVersions({ sql: client, db }: Database, cursors: CursorCodec): Versions {
  const kept = new Map<string, Promise<StoredVersion>>()

  const read = async (
    from: 'workflow_drafts' | 'workflow_versions',
    id: string,
    tenant: TenantScope,
    runner: StatementRunner = client,
  ) => {
    const rows = await runner.unsafe(
      `select state from ${from} where id = $1 and workspace_id = $2 and environment = $3`,
      [id, tenant.workspaceId, tenant.environment],
      { prepare: true },
    )
    if (!rows[0]) throw notFound()
    return Row.parse(rows[0]).state
  }

  return {
    load(ref, tenant, runner) {
      const key = `${tenant.workspaceId}/${tenant.environment}/${ref}`
      const known = kept.get(key)
      const found =
        known ?? read('workflow_versions', ref, tenant, runner).then((state) => StoredVersion.parse(state))
      kept.delete(key)
      kept.set(key, found)
      found.catch(() => kept.delete(key))
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break
        kept.delete(oldest)
      }
      return found
    },
    async keep(ref, version, grant, { workspaceId, environment }) {
      await client.unsafe(
        `insert into workflow_versions (id, workspace_id, environment, version, state)
         values ($1, $2, $3, 1, $4::text::json)`,
        [ref, workspaceId, environment, stringifyExact(versionRow(ref, version, grant).state)],
      )
    },
    draft: async (workflowId, tenant) =>
      z.object({ definition: WorkflowDefinition }).parse(await read('workflow_drafts', workflowId, tenant))
        .definition,
    list: ({ id, publishedVersion }, tenant, { limit, after, binding }) =>
      keysetPage(db, {
        table,
        tenant,
        where: [sql`${table.workflowId} = ${id}`, sql`${table.number} > 0`],
        sort: { column: table.number, direction: 'desc' },
        ...{ limit, after, binding, cursors },
        present: ({ state }) => shownVersion(StoredVersion.parse(state), publishedVersion),
      }),
  }
}

export function shownVersion(version: StoredVersion, publishedVersion: number | null): WorkflowVersion {
  const { workflowId, number, name, note, definition, stepCount, publishedAt, publishedBy } = version
  return {
    ...{ workflowId, number, name, note, stepCount, publishedAt, publishedBy },
    triggerType: definition.trigger.type,
    current: number === publishedVersion,
  }
}
