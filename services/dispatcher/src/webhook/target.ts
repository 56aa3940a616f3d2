import { Environment, type TenantScope } from '@opsplane/contracts'
import type { WebhookState } from './domain.js'

/** Events of one source that were fanned out before a webhook existed and are not sent to it: see ADR 040. */
export interface Fence {
  source: string
  /** All positions up to this one are fenced. */
  floor: number
  /** Fenced positions above it, as runs: the first position, followed by the last one negated. */
  done: readonly number[]
}

/** A webhook in the form needed for deliveries. Immutable: each version is a separate target. */
export interface Target extends WebhookState {
  version: number
  tenant: TenantScope
}

/** A row written by this service, so it is not validated. */
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
