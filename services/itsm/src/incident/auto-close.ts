import { IncidentState } from '@opsplane/contracts'
import { type DueContext, dueCommands, toTenant } from '../due-commands.js'
import { claimStatement, nextClosing, resolvedIncidents } from './auto-close-rows.js'
import type { IncidentStore } from './incident-store.js'

/** Maximum number of incidents closed in one batch. */
export const autoCloseBatch = 200

/**
 * Closes resolved incidents after the number of days in the
 * tenant's settings. The current settings apply at each check.
 */
export function autoCloseWork(ctx: DueContext, incidents: IncidentStore) {
  return dueCommands(ctx, {
    name: 'auto-close',
    of: resolvedIncidents,
    batch: autoCloseBatch,
    claim: claimStatement,
    nextDue: nextClosing,
    // The setting is in days, so a minute more or less does not matter.
    lookEveryMs: 60_000,
    async perform(unit, rows) {
      for (const { at: now, version, ...row } of rows) {
        const state = IncidentState.parse(row.state)
        const options = { tenant: toTenant(row), current: { state, version } }
        await unit.handle(incidents, state.id, { kind: 'close', cause: 'auto_close', now }, options)
      }
    },
  })
}
