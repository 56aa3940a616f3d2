import { startDaily } from '@opsplane/eventstore'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'

/** Tokens can be looked up for so long after they have ended; what they were stays in the log. */
const keptMs = 30 * 86_400_000
const atOnce = 1_000

/** Deletes the rows of embed tokens that have expired long ago: now and every day. */
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
