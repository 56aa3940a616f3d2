import { notFound, type Table, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'

/** The definitions of tables as they are now, or were a moment ago. */
export interface Definitions {
  /** Throws `not_found`. A change in another replica is seen within a second; whoever writes says which one it goes by. */
  get(tenant: TenantScope, slug: string): Promise<Table>
  /** What is remembered of it is outdated. */
  forget(tenant: TenantScope, slug: string): void
}

const freshMs = 1_000
const mostRemembered = 20_000

const Row = z.object({ version: z.number(), state: z.record(z.string(), z.unknown()) })

export function createDefinitions({ sql }: Pick<Database, 'sql'>): Definitions {
  const known = new Map<string, { until: number; table: Promise<Table> }>()
  const nameOf = ({ workspaceId, environment }: TenantScope, slug: string) =>
    `${workspaceId}/${environment}/${slug}`

  async function read({ workspaceId, environment }: TenantScope, slug: string): Promise<Table> {
    const [row] = await sql.unsafe(
      `select version, state from tables
       where workspace_id = $1 and environment = $2 and slug = $3 and purge_at is null`,
      [workspaceId, environment, slug],
      { prepare: true },
    )
    if (!row) throw notFound()
    const { version, state } = Row.parse(row)
    // The row was written from this very state, which types it.
    return { ...state, version } as Table
  }

  return {
    get(tenant, slug) {
      const name = nameOf(tenant, slug)
      const remembered = known.get(name)
      if (remembered && remembered.until > performance.now()) return remembered.table
      const table = read(tenant, slug)
      table.catch(() => known.delete(name))
      if (known.size >= mostRemembered) known.clear()
      known.set(name, { until: performance.now() + freshMs, table })
      return table
    },
    forget: (tenant, slug) => void known.delete(nameOf(tenant, slug)),
  }
}
