import { backendNames } from '@opsplane/contracts'
import { provisionAll } from '@opsplane/local'
import { installationIdPattern, isDatabaseUnavailable, openClient, toInstallation } from '@opsplane/postgres'
import { delay, parseConfig, retryDelayMs, stringMap } from '@opsplane/runtime'
import { z } from 'zod'

const passwords = stringMap.pipe(z.record(z.enum(backendNames), z.string().min(1)))

const config = z.object({
  databaseUrl: z
    .string()
    .meta({ description: 'Postgres URL for the superuser of the database, not through a pooler' }),
  databasePasswords: passwords.meta({
    description: 'JSON object: service name to the password of its login role',
  }),
  installationId: z.string().regex(installationIdPattern).optional().meta({
    description:
      'id of the installation; the database records it, and names on the database server begin with it',
  }),
  databaseWaitSeconds: z.coerce.number().int().min(0).max(3_600).default(120).meta({
    description: 'seconds to wait for Postgres to respond',
  }),
})

type Environment = Record<string, string | undefined>

/**
 * Brings the schema and the login role of every service up to date. Can be repeated, and run concurrently from
 * several places. Throws ConfigError, InstallationError, or the error from Postgres.
 */
export async function migrate(env: Environment, print: (line: string) => void): Promise<void> {
  const { databaseUrl, databasePasswords, databaseWaitSeconds, installationId } = parseConfig(config, env)
  await answering(databaseUrl, databaseWaitSeconds * 1_000)
  await provisionAll(
    databaseUrl,
    databasePasswords,
    installationId ? toInstallation(installationId) : undefined,
  )
  print(`The databases of ${backendNames.length} services are up to date.`)
}

/**
 * Resolves once Postgres accepts this login; rejects with its error immediately, or after `waitMs` if it is
 * unavailable.
 */
async function answering(databaseUrl: string, waitMs: number): Promise<void> {
  const sql = openClient(databaseUrl, { schema: 'public', max: 1 })
  const startedAt = performance.now()
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await sql`select 1`
        return
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() - startedAt > waitMs) throw error
        await delay(retryDelayMs({ attempt, strategy: 'exponential', baseMs: 250, maxMs: 5_000 }))
      }
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}
