import { lastBackupText } from '@opsplane/contracts'
import { openClient, quoteIdentifier } from '@opsplane/postgres'
import { findSchema } from '../ops-tasks.js'

/**
 * Records when a backup was whole, for the metric of the service `settings`: as the comment of its schema, which no backup has,
 * so that a restored installation does not claim one.
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
