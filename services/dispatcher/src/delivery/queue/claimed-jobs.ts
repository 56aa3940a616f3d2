import { deliveryBody, type PlatformEvent } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { type Target, targetOf, type WebhookRow } from '../../webhook/target.js'
import type { DeliveryJob } from '../job.js'
import { bodyText } from './matching.js'
import { type Claimed, failWithoutEvent, releaseLeases } from './queue-statements.js'
import type { Sender } from './sender.js'

export interface ClaimedJobsOptions {
  sql: Database['sql']
  owner: string
  leaseMs: number
  sender: Pick<Sender<DeliveryJob>, 'reserve' | 'submit'>
  /** A delivery is finished, so the next one of its ordering key may go. */
  finished(webhookId: string, orderingKey: string | null): void
}

const maxTargets = 20_000

/**
 * Takes deliveries that the poller has leased into the queues in memory; what finds no room is given back. Resolves with how
 * many were not.
 */
export function createAccept(options: ClaimedJobsOptions) {
  const { sql, owner, leaseMs, sender, finished } = options
  const targets = new Map<string, Target>()

  /** As the claim saw them, or later. */
  async function targetsOf(claimed: readonly Claimed[]): Promise<Map<string, Target>> {
    const versions = new Map(claimed.map(({ webhook_id, version }) => [webhook_id, version]))
    const missing = [...versions].filter(([id, version]) => targets.get(id)?.version !== version)
    if (missing.length > 0) {
      const rows = await sql.unsafe<WebhookRow[]>(
        'select id, workspace_id, environment, version, state from webhooks where id = any ($1::text[])',
        [missing.map(([id]) => id)],
        { prepare: true },
      )
      if (targets.size > maxTargets) targets.clear()
      for (const row of rows) targets.set(row.id, targetOf(row))
    }
    return new Map(
      [...versions.keys()].flatMap((id) => {
        const target = targets.get(id)
        return target ? [[id, target] as const] : []
      }),
    )
  }

  return async (claimed: Claimed[], leasedAt: number): Promise<number> => {
    const refused: string[] = []
    const withoutEvent: Claimed[] = []
    const sendBefore = leasedAt + leaseMs * 0.9
    const known = await targetsOf(claimed)
    for (const row of claimed) {
      const target = known.get(row.webhook_id)
      const place = target && {
        webhookId: target.id,
        workspaceId: target.tenant.workspaceId,
        bytes: row.bytes,
      }
      if (row.event === null) withoutEvent.push(row)
      else if (!place || !sender.reserve(place, target.rateLimitPerSecond)) refused.push(row.id)
      else sender.submit(claimedJob(row, row.event, target, sendBefore))
    }
    await releaseLeases(sql, owner, refused)
    const unsendable = withoutEvent.map(({ id }) => id)
    await failWithoutEvent(sql, owner, unsendable)
    for (const row of withoutEvent) finished(row.webhook_id, row.ordering_key)
    return claimed.length - refused.length
  }
}

function claimedJob(row: Claimed, eventText: string, target: Target, sendBefore: number): DeliveryJob {
  const event: PlatformEvent = JSON.parse(eventText)
  const body = deliveryBody(event, target.id)
  return {
    deliveryId: row.id,
    webhookId: target.id,
    workspaceId: target.tenant.workspaceId,
    target,
    content: { id: event.id, type: event.type, text: bodyText(body, JSON.stringify(body.data)) },
    bytes: row.bytes,
    queueClass: row.attempts > row.cycle_base ? 'retry' : 'first',
    attempts: row.attempts,
    cycleBase: row.cycle_base,
    orderingKey: row.ordering_key,
    sendBefore,
  }
}
