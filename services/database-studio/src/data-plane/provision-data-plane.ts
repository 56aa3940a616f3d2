import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  findInstallation,
  formatRole,
  type Installation,
  markRole,
  parseServerTarget,
  quoteIdentifier,
  refuseForeignRole,
  retryRoleRaces,
} from '@opsplane/postgres'
import postgres from 'postgres'
import { renewIndexes } from './renew-indexes.js'

const folder = fileURLToPath(new URL('../../sql', import.meta.url))
const schema = 'database_studio'

/** Role that all tenant logins are members of. */
export const tenantRole = 'studio_tenant'

/**
 * Brings the data plane's functions and the hardening of the database up to date by running every file of `sql/`. Then
 * rebuilds full-text indexes of earlier versions. Throws InstallationError if the database or a role belongs to another
 * installation.
 */
export async function provisionDataPlane({ adminUrl }: { adminUrl: string }): Promise<void> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const text = files.sort().map((file) => readFileSync(join(folder, file), 'utf8'))
  const { url, ssl } = parseServerTarget(adminUrl)
  const admin = postgres(url, {
    ...(ssl && { ssl }),
    max: 1,
    onnotice: () => {},
    connection: { search_path: schema },
  })
  try {
    const installation = await findInstallation(admin)
    const statements = text
      .join('\n')
      .replaceAll(/(?<!:):(service|tenant)\b/g, (_whole, part) =>
        quoteIdentifier(formatRole(installation, part === 'tenant' ? tenantRole : schema)),
      )
    await retryRoleRaces(() => ensureTenantRole(admin, installation))
    await retryRoleRaces(() =>
      admin.begin((tx) => tx.unsafe(`select pg_advisory_xact_lock(7241003);\n${statements}`).simple()),
    )
    await renewIndexes(admin)
  } finally {
    await admin.end({ timeout: 5 })
  }
}

/** Roles belong to the Postgres server, so another database of the installation may already have created the role. */
async function ensureTenantRole(admin: postgres.Sql, installation: Installation): Promise<void> {
  const role = formatRole(installation, tenantRole)
  if (!(await refuseForeignRole(admin, role, installation)))
    await admin.unsafe(`create role ${quoteIdentifier(role)} nologin`)
  await admin.unsafe(markRole(role))
}
