import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { retryRoleRaces, targetOf } from '@opsplane/postgres'
import postgres from 'postgres'

const folder = fileURLToPath(new URL('../../sql', import.meta.url))
const schema = 'database_studio'

/** Brings the data plane's functions and the hardening of the database up to date: all of `sql/`, each file whole. */
export async function provisionPlane({ adminUrl }: { adminUrl: string }): Promise<void> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const text = files.sort().map((file) => readFileSync(join(folder, file), 'utf8'))
  const { url, ssl } = targetOf(adminUrl)
  const admin = postgres(url, {
    ...(ssl && { ssl }),
    max: 1,
    onnotice: () => {},
    connection: { search_path: schema },
  })
  try {
    await retryRoleRaces(() =>
      admin.begin((tx) => tx.unsafe(`select pg_advisory_xact_lock(7241003);\n${text.join('\n')}`).simple()),
    )
  } finally {
    await admin.end({ timeout: 5 })
  }
}
