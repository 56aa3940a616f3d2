import { AppPageState, DataSourceState, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { KnownNames } from './check/page.js'
import { toWorkspaceScope } from './workspace-scope.js'

/** The current pages and sources of an app, which the next deployment would contain. */
export interface Draft {
  pages: AppPageState[]
  sources: DataSourceState[]
}

export const maxPages = 50
export const maxSources = 100

/** Reads pages in navigation order and sources by name. */
export async function readDraft({ sql }: Database, appId: string, tenant: TenantScope): Promise<Draft> {
  const { workspaceId, environment } = toWorkspaceScope(tenant)
  const [pages, sources] = await Promise.all([
    sql.unsafe(
      `select state from app_pages where workspace_id = $1 and environment = $2 and app_id = $3
       order by position, id limit ${maxPages}`,
      [workspaceId, environment, appId],
      { prepare: true },
    ),
    sql.unsafe(
      `select state from data_sources where workspace_id = $1 and environment = $2 and app_id = $3
       order by name limit ${maxSources}`,
      [workspaceId, environment, appId],
      { prepare: true },
    ),
  ])
  return { pages: statesOf(AppPageState, pages), sources: statesOf(DataSourceState, sources) }
}

const statesOf = <State extends z.ZodType>(schema: State, rows: readonly unknown[]): z.output<State>[] =>
  rows.map((row) => schema.parse(z.object({ state: z.unknown() }).parse(row).state))

const Names = z.object({ pages: z.array(z.string()), sources: z.array(z.string()) })

/** Names that pages of the app can currently refer to. */
export async function loadNames({ sql }: Database, appId: string, tenant: TenantScope): Promise<KnownNames> {
  const { workspaceId, environment } = toWorkspaceScope(tenant)
  const [row] = await sql.unsafe(
    `select
       array(select slug from app_pages where workspace_id = $1 and environment = $2 and app_id = $3) as pages,
       array(select name from data_sources where workspace_id = $1 and environment = $2 and app_id = $3) as sources`,
    [workspaceId, environment, appId],
    { prepare: true },
  )
  const { pages, sources } = Names.parse(row)
  return { pages: new Set(pages), sources: new Set(sources) }
}
