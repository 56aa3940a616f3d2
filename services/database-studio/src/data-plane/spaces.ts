import { newId, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'
import { deriveVerifiers } from './logins.js'
import type { Space } from './space.js'

export interface Spaces {
  /** The space of a tenant. Created on first use. */
  of(tenant: TenantScope): Promise<Space>
  /** The key from which passwords and proofs are derived. */
  key(): Promise<Buffer>
  /** Resets the passwords and settings of a space's logins to their original values. */
  repair(space: Space): Promise<void>
}

const columns = `id, workspace_id as "workspaceId", environment, schema_name as schema, server,
  opsplane.role_name('') as "rolePrefix"`
/** A space never changes while the process runs, except for its server, and moving it requires a restart. */
const maxRemembered = 50_000

export function createSpaces({ sql }: Pick<Database, 'sql'>): Spaces {
  const known = new LRUCache<string, Promise<Space>>({ max: maxRemembered })
  let keyRead: Promise<Buffer> | undefined

  const readKey = async () => {
    const [row] = await sql.unsafe<{ key: string }[]>(`select encode(key, 'hex') as key from plane_keys`)
    if (!row) throw new Error('the data database is not provisioned')
    return Buffer.from(row.key, 'hex')
  }
  const key = () => {
    keyRead ??= readKey().catch((error: unknown) => {
      keyRead = undefined
      throw error
    })
    return keyRead
  }

  async function find({ workspaceId, environment }: TenantScope): Promise<Space> {
    const [space] = await sql.unsafe<Space[]>(
      `select ${columns} from spaces where workspace_id = $1 and environment = $2`,
      [workspaceId, environment],
      { prepare: true },
    )
    if (space) return space
    const id = newId('space')
    const verifiers = deriveVerifiers(await key(), schemaOf(id))
    const [made] = await sql.unsafe<Space[]>(`select ${columns} from add_space($1, $2, $3, $4)`, [
      ...[id, workspaceId, environment],
      verifiers,
    ] as string[])
    if (!made) throw new Error(`no space was made for ${workspaceId}`)
    return made
  }

  return {
    key,
    of(tenant) {
      const name = tenantKey(tenant)
      const remembered = known.get(name)
      if (remembered) return remembered
      const finding = find(tenant)
      finding.catch(() => known.delete(name))
      known.set(name, finding)
      return finding
    },
    async repair({ id, schema }) {
      const verifiers = deriveVerifiers(await key(), schema)
      await sql.unsafe('select repair_space($1, $2)', [id, verifiers] as unknown as string[])
    },
  }
}

/** Same naming rule as the SQL function `add_space`. */
const schemaOf = (id: string): string => `s_${id.slice(-12).toLowerCase()}`
