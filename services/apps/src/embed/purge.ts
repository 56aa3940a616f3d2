import { startDaily } from '@opsplane/eventstore'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'

/** Retention of the rows of ended tokens, in milliseconds. The log keeps their events. */
const keptMs = 30 * 86_400_000
const atOnce = 1_000

/** Deletes the rows of long-expired embed tokens: at start and every day. */
export const startEmbedPurge = ({ database: { sql }, clock, log }: ServiceContext): BackgroundWork =>
  startDaily(log, 'expired embed tokens could not be deleted', async (closing) => {
    const before = new Date(Date.parse(clock.now()) - keptMs).toISOString()
    for (let deleted = atOnce; deleted === atOnce && !closing.aborted; )
      deleted = (
        await sql.unsafe(
          `delete from embed_tokens where id in (
             select id from embed_tokens where expires_at < $1 order by expires_at limit ${atOnce})`,
          [before],
        )
      ).count
  })
