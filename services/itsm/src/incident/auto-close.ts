import { createSweep } from '../due-sweep.js'
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
  const incidents = incidentStore(ctx)
  return createSweep(ctx, {
    claim: (tx, now) => claimDue(tx, now, autoCloseBatch),
    perform: (unit, { tenant, ...current }, now) =>
      unit.handle(
        incidents,
        current.state.id,
        { kind: 'close', cause: 'auto_close', now },
        { tenant, current },
      ),
  })
}
