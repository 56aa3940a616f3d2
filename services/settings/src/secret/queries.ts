import { SecretState, type TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { secrets } from '../schema.js'
import type { StoredSecret } from './domain.js'

const Stored = SecretState.extend({ sealedValue: z.object({ text: z.string(), version: z.int() }) })

/** The secrets of one workspace and environment with these names. */
export async function secretsByName(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  names: string[],
): Promise<StoredSecret[]> {
  if (names.length === 0) return []
  const rows = await db
    .select({ state: secrets.state })
    .from(secrets)
    .where(
      and(
        eq(secrets.workspaceId, workspaceId),
        eq(secrets.environment, environment),
        inArray(secrets.name, names),
      ),
    )
  return rows.map((row) => Stored.parse(row.state))
}
