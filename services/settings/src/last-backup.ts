import { lastBackupSeconds } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import type { SettingsConfig } from './config.js'

const everyMs = 55_000

/** Metric with the time of the last complete backup of the whole installation, as recorded by `opsplane backup`. */
export function measureLastBackup({
  metrics,
  database: { sql },
}: Pick<ServiceContext<SettingsConfig>, 'metrics' | 'database'>): void {
  metrics.gather(async () => {
    const [row] = await sql<{ comment: string | null }[]>`
      select obj_description(current_schema()::regnamespace, 'pg_namespace') as comment`
    return [
      {
        name: 'opsplane_backup_last_success_timestamp_seconds' as const,
        value: lastBackupSeconds(row?.comment),
      },
    ]
  }, everyMs)
}
