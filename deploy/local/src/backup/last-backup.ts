import { lastBackupText } from '@opsplane/contracts'
import { openClient, quoteIdentifier } from '@opsplane/postgres'
import { findSchema } from '../ops-tasks.js'

/**
 * Records when a backup was completed, for a metric of the service `settings`. Stored as the comment of its schema,
 * which no backup contains, so that a restored installation does not report one.
 */
export async function recordBackup(adminUrl: string, at: Date): Promise<void> {
  const sql = openClient(adminUrl, { schema: 'public', max: 1 })
  try {
    await sql.unsafe(
      `comment on schema ${quoteIdentifier(findSchema('settings'))} is '${lastBackupText(at)}'`,
    )
  } finally {
    await sql.end({ timeout: 5 })
  }
}
