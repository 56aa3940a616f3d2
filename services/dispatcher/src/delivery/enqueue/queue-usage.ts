/** A delivery leased by this replica. */
export interface Job {
  deliveryId: string
  webhookId: string
  workspaceId: string
  /** Bytes in memory until it ends. */
  bytes: number
  /** It must not be sent after this instant (monotonic ms), since another replica may have claimed it. */
  sendBefore: number
  queueClass: 'first' | 'retry'
  /**
   * Since when (monotonic ms) it has waited for its own webhook or workspace: for one of their attempts to end, for a
   * slot of the rate limit, or for room in their share. `undefined` if only the platform delays it.
   */
  heldUpSince?: number
}

export interface Share {
  attempts: number
  slow: number
  queued: number
  bytes: number
}

/** Usage by an endpoint, by a workspace, or overall. */
export interface QueueUsage {
  /** Queued or reserved jobs. */
  waiting: number
  /** Bytes of these jobs and of those in flight. */
  bytes: number
}

/** Usage and attempts of a workspace. */
export interface Tenant extends QueueUsage {
  workspaceId: string
  running: Record<Job['queueClass'], number>
  slow: number
  /**
   * Webhooks that wait for an attempt of another webhook of the workspace to end; may
   * include some that no longer wait.
   */
  parked: Record<Job['queueClass'], Set<string>>
  /** Webhooks rejected because the workspace had reached its share; cleared when half of the share is free. */
  refused: Set<string>
  /** Number of its remembered endpoints; the workspace is forgotten with the last one. */
  endpoints: number
}

export interface Endpoint extends QueueUsage {
  webhookId: string
  tenant: Tenant
  share: Share
  limit: number
  running: number
  wasRefused: boolean
  /** Rejected for its bytes, until half of its share of the memory is free. */
  shortOfMemory: boolean
  /** Its rate limit, as last seen. */
  perSecond: number | undefined
  /** The queue class that used its last slot, if it has a rate limit. */
  servedLast: Job['queueClass'] | undefined
}
