/** A delivery this replica has leased. */
export interface Job {
  deliveryId: string
  webhookId: string
  workspaceId: string
  /** What it holds in memory until it has ended. */
  bytes: number
  /** Not sent any more after this instant (monotonic ms): another replica may have taken it. */
  sendBefore: number
  queueClass: 'first' | 'retry'
  /**
   * Since when it has waited for its own webhook or workspace (monotonic ms): for one of their attempts to end, a slot of the rate
   * limit, or room in their share. Undefined while nothing but the platform keeps it from being sent.
   */
  heldUpSince?: number
}

export interface Share {
  attempts: number
  slow: number
  queued: number
  bytes: number
}

/** What is held of an endpoint, of a workspace and of all. */
export interface QueueUsage {
  /** Jobs that are queued or reserved. */
  waiting: number
  /** Of these, and of what is in flight. */
  bytes: number
}

/** What a workspace has in flight, queued or reserved. */
export interface Tenant extends QueueUsage {
  workspaceId: string
  running: Record<Job['queueClass'], number>
  slow: number
  /** Webhooks that wait for an attempt of another one of the workspace to end, also some that need not any more. */
  parked: Record<Job['queueClass'], Set<string>>
  /** Webhooks refused as the workspace had its share, until half of it is free. */
  refused: Set<string>
  /** Its endpoints that are remembered; with the last one it is forgotten. */
  endpoints: number
}

export interface Endpoint extends QueueUsage {
  webhookId: string
  tenant: Tenant
  share: Share
  limit: number
  running: number
  wasRefused: boolean
  /** Refused for its bytes, until half of its share of the memory is free. */
  shortOfMemory: boolean
  /** Its rate limit, as last seen. */
  perSecond: number | undefined
  /** The queue class its slots went to last, when it has a rate limit. */
  servedLast: Job['queueClass'] | undefined
}
