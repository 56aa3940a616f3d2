import { notFound, RecordValidation, type Table, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

/** A validation that is called for records of a table. */
export type TableValidation = Pick<RecordValidation, 'on' | 'whenUnavailable'>

/** A table and the validations of its records. */
export interface DefinedTable {
  table: Table
  validations: readonly TableValidation[]
}

/** Table definitions: the current ones, or cached ones that are at most a second old. */
export interface Definitions {
  /**
   * Throws `not_found`. Changes made by another replica are visible within a second; a write names the definition
   * version it is based on.
   */
  get(tenant: TenantScope, slug: string): Promise<Table>
  /** Same as `get` with the validations, in the same statement, so tables without validations cost no extra query. */
  defined(tenant: TenantScope, slug: string): Promise<DefinedTable>
  /** Removes the cached definition. */
  forget(tenant: TenantScope, slug: string): void
}

const freshMs = 1_000
const maxRemembered = 20_000

const Row = z.object({
  version: z.number(),
  state: z.record(z.string(), z.unknown()),
  validations: z.array(RecordValidation.pick({ on: true, whenUnavailable: true })),
})

export function createDefinitions({ sql }: Pick<Database, 'sql'>): Definitions {
  const known = new LRUCache<string, { until: number; defined: Promise<DefinedTable> }>({
    max: maxRemembered,
  })
  const nameOf = ({ workspaceId, environment }: TenantScope, slug: string) =>
    `${workspaceId}/${environment}/${slug}`

  async function read({ workspaceId, environment }: TenantScope, slug: string): Promise<DefinedTable> {
    const [row] = await sql.unsafe(
      `select version, state, coalesce((
         select json_agg(json_build_object('on', v.operations, 'whenUnavailable', v.when_unavailable))
         from record_validations v where v.workspace_id = $1 and v.environment = $2 and $3 = any(v.tables)
       ), '[]') as validations
       from tables
       where workspace_id = $1 and environment = $2 and slug = $3 and purge_at is null`,
      [workspaceId, environment, slug],
      { prepare: true },
    )
    if (!row) throw notFound()
    const { version, state, validations } = Row.parse(row)
    // The row was written from exactly this state, so its type is known.
    return { table: { ...state, version } as Table, validations }
  }

  const defined: Definitions['defined'] = (tenant, slug) => {
    const name = nameOf(tenant, slug)
    const remembered = known.get(name)
    if (remembered && remembered.until > performance.now()) return remembered.defined
    const found = read(tenant, slug)
    found.catch(() => known.delete(name))
    known.set(name, { until: performance.now() + freshMs, defined: found })
    return found
  }

  return {
    defined,
    get: async (tenant, slug) => (await defined(tenant, slug)).table,
    forget: (tenant, slug) => void known.delete(nameOf(tenant, slug)),
  }
}
