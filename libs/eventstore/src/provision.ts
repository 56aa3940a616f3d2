import { fileURLToPath } from 'node:url'
import { type Migrations, type ProvisionOptions, provisionSchema } from '@opsplane/postgres'

interface ServiceProvisionOptions extends Omit<ProvisionOptions, 'migrations'> {
  /** The service's own migrations, for all tables except those of the log. */
  migrationsDir: string
}

const logMigrations: Migrations = {
  folder: fileURLToPath(new URL('../migrations', import.meta.url)),
  table: 'log_migrations',
}

/**
 * Brings one service's schema up to date, the tables of its log first: see `provisionSchema`. Returns the URL the
 * service connects with.
 */
export function provisionService({ migrationsDir, ...options }: ServiceProvisionOptions): Promise<string> {
  return provisionSchema({
    ...options,
    migrations: [logMigrations, { folder: migrationsDir, table: 'schema_migrations' }],
  })
}
