import { platformTenant, systemActor } from '@opsplane/contracts'
import { VersionRaceError } from '@opsplane/eventstore'
import { claimDue } from './auto-close-rows.js'
import type { CascadeContext } from './cascade.js'
import { incidentStore } from './incident-store.js'

/** Incidents a sweep closes at most. */
export const autoCloseBatch = 200

/**
 * Closes resolved incidents once the days of the tenant's settings have passed, one batch in one transaction. What
 * is due follows from the settings at that moment. How many it took.
 */
export function createAutoClose(ctx: CascadeContext) {
  const { database, store, clock, relay } = ctx
  const incidents = incidentStore(ctx)

  async function closeBatch(): Promise<number> {
    const now = clock.now()
    const meta = { tenant: platformTenant, actor: systemActor, now, requestId: null }
    return database.sql.begin(async (tx) => {
      const due = await claimDue(tx, now, autoCloseBatch)
      await store.within(tx, meta, async (unit) => {
        for (const { tenant, ...current } of due)
          await unit.handle(
            incidents,
            current.state.id,
            { kind: 'close', cause: 'auto_close', now },
            { tenant, current },
          )
      })
      return due.length
    })
  }

  async function sweep(): Promise<number> {
    try {
      const closed = await closeBatch()
      if (closed > 0) relay.wake()
      return closed
    } catch (error) {
      // Somebody has written to one of them in this very moment: the next sweep looks again.
      if (error instanceof VersionRaceError) return 0
      throw error
    }
  }

  return { sweep }
}
