import { type TenantScope, tenantKey } from '@opsplane/contracts'
import { type WebhookCommand, type WebhookState, webhook } from '../../webhook/domain.js'
import type { AttemptColumns } from '../record/record-statement.js'
import { buildReplay, buildRetry, type DeliveryRow, type ResendAction } from '../resend/resend-rows.js'

export type { DeliveryRow } from '../resend/resend-rows.js'

/** A webhook's row and the state of its queue. */
export interface WebhookRow {
  tenant: TenantScope
  version: number
  state: WebhookState
  /** Deliveries due until then were missed during a pause; 0 if none were. */
  resumedAt: number
  drainAt: number
  drainedTo: string
}

export const isUnfinished = ({ status }: DeliveryRow): boolean =>
  status === 'pending' || status === 'retrying'

/** A delivery released from an ordering queue has a due time or a lease until it is finished. */
export const waitsInQueue = (row: DeliveryRow): boolean =>
  isUnfinished(row) && row.dueAt === null && row.leaseOwner === null

/** The delivery tables shared by all replicas, with the clock of the database. */
export class DeliveryRows {
  readonly webhooks = new Map<string, WebhookRow>()
  readonly revisions = new Map<string, number>()
  readonly deliveries = new Map<string, DeliveryRow>()
  /** Events by their ids, as JSON. */
  readonly events = new Map<string, string>()
  /** Attempts by delivery and number. */
  readonly attempts = new Map<string, AttemptColumns>()
  readonly failures = new Map<string, { epoch: number; count: number }>()
  /** When the next slot of a rate limit is free. */
  readonly pace = new Map<string, number>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get now(): number {
    return Math.floor(this.#nowMs())
  }

  add(tenant: TenantScope, state: WebhookState): void {
    this.#revise(tenant)
    this.webhooks.set(state.id, { tenant, version: 1, state, resumedAt: 0, drainAt: 0, drainedTo: '' })
  }

  /** Executes a command on a webhook like its aggregate. Returns whether anything changed. */
  handle(webhookId: string, command: WebhookCommand): boolean {
    const row = this.webhooks.get(webhookId)
    if (!row) return false
    let isChanged = false
    for (const { after } of webhook.decide(command, row.state)) {
      isChanged = true
      this.#revise(row.tenant)
      if (after === null) {
        this.webhooks.delete(webhookId)
        continue
      }
      if (row.state.status === 'paused' && after.status === 'active')
        Object.assign(row, { resumedAt: this.now, drainAt: 0, drainedTo: '' })
      row.version++
      row.state = after
    }
    return isChanged
  }

  #revise(tenant: TenantScope): void {
    this.revisions.set(tenantKey(tenant), (this.revisions.get(tenantKey(tenant)) ?? 0) + 1)
  }

  unfinishedOf(webhookId: string): DeliveryRow[] {
    return [...this.deliveries.values()].filter((row) => row.webhookId === webhookId && isUnfinished(row))
  }

  /** Retries a delivery, or replays it under another id, like a manual request of a user. */
  resend(row: DeliveryRow, action: ResendAction, replayId: string): DeliveryRow {
    const to = { url: row.url, nowMs: this.now }
    if (action === 'retry') Object.assign(row, buildRetry(row, to))
    else
      this.deliveries.set(
        replayId,
        Object.assign({ ...row, ...beforeFirstAttempt }, buildReplay(replayId, row, to)),
      )
    const made = action === 'retry' ? row : (this.deliveries.get(replayId) as DeliveryRow)
    if (made.orderingKey === null) made.dueAt = this.now
    return made
  }
}

/** Column values of a delivery before its first attempt. */
export const beforeFirstAttempt = {
  status: 'pending',
  attempts: 0,
  cycleBase: 0,
  dueAt: null,
  leaseOwner: null,
  replayOf: null,
  lastAttemptAt: null,
  lastResponseStatus: null,
  lastResponseBody: null,
  lastDurationMs: null,
  lastErrorKind: null,
  lastErrorMessage: null,
  changePosition: null,
} as const satisfies Partial<DeliveryRow>
