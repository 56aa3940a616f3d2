import { Environment, type TenantScope } from '@opsplane/contracts'
import type { WebhookState } from './domain.js'

/** Events of one source that are not for a webhook, as they were fanned out before it was there: see ADR 040. */
export interface Fence {
  source: string
  /** Everything up to this position. */
  floor: number
  /** And these above it: of each run the first one, and the last one with a minus. */
  done: readonly number[]
}

/** A webhook as the delivery path needs it. Immutable: another version is another target. */
export interface Target extends WebhookState {
  version: number
  tenant: TenantScope
}

/** A row that this service wrote itself. */
export interface WebhookRow {
  id: string
  workspace_id: string
  environment: string
  version: number
  state: WebhookState
}

export function toTarget({ workspace_id, environment, version, state }: WebhookRow): Target {
  return {
    ...state,
    version,
    tenant: { workspaceId: workspace_id, environment: Environment.parse(environment) },
  }
}
