import { type Instant, platformTenant, systemActor } from '@opsplane/contracts'
import { type Unit, VersionRaceError } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import type { StatementRunner } from './cmdb/columns.js'

export interface SweepContext extends Pick<ServiceContext, 'database' | 'store' | 'clock'> {
  relay: Pick<ServiceContext['relay'], 'wake'>
}

export interface DueWork<Due> {
  /** Locks a batch of what is due, of all tenants; what another replica has in hand is left to it. */
  claim(tx: StatementRunner, now: Instant): Promise<Due[]>
  perform(unit: Unit, due: Due, now: Instant): Promise<unknown>
}

/** Does what is due, one batch in one transaction. `sweep` resolves to how many it took. */
export function createSweep<Due>(ctx: SweepContext, { claim, perform }: DueWork<Due>) {
  const { database, store, clock, relay } = ctx

  async function takeBatch(): Promise<number> {
    const now = clock.now()
    const meta = { tenant: platformTenant, actor: systemActor, now, requestId: null }
    return database.sql.begin(async (tx) => {
      const due = await claim(tx, now)
      await store.within(tx, meta, async (unit) => {
        for (const each of due) await perform(unit, each, now)
      })
      return due.length
    })
  }

  async function sweep(): Promise<number> {
    try {
      const taken = await takeBatch()
      if (taken > 0) relay.wake()
      return taken
    } catch (error) {
      // Somebody has written to one of them in this very moment: the next sweep looks again.
      if (error instanceof VersionRaceError) return 0
      throw error
    }
  }

  return { sweep }
}
