import type { Logger } from '@opsplane/runtime'

export interface BusiestWorkspacesOptions {
  log: Pick<Logger, 'warn'>
  /** Monotonic milliseconds. */
  now(): number
}

export interface BusiestWorkspaces {
  /** Called when an attempt starts; `lateMs` is the delay caused by the platform. */
  add(workspaceId: string, lateMs: number): void
}

const windowMs = 60_000
/** Milliseconds; first attempts that start later count as late in the alerts. */
const maxLateMs = 10_000
const maxNamed = 3

/**
 * While first attempts are late, logs every minute the workspaces with the most attempts,
 * since no metric is labelled by workspace.
 */
export function createBusiestWorkspaces({ log, now }: BusiestWorkspacesOptions): BusiestWorkspaces {
  let attempts = new Map<string, number>()
  let since = now()
  let late = 0

  function endWindow() {
    if (late > 0) {
      const counts = [...attempts].sort(([, a], [, b]) => b - a)
      const workspaces = counts
        .slice(0, maxNamed)
        .map(([workspaceId, count]) => ({ workspaceId, attempts: count }))
      const total = counts.reduce((sum, [, count]) => sum + count, 0)
      log.warn(
        { workspaces, attempts: total, late, seconds: Math.round((now() - since) / 1_000) },
        'first attempts of deliveries were late; these workspaces had most of the attempts',
      )
    }
    attempts = new Map()
    since = now()
    late = 0
  }

  return {
    add(workspaceId, lateMs) {
      attempts.set(workspaceId, (attempts.get(workspaceId) ?? 0) + 1)
      if (lateMs > maxLateMs) late++
      if (now() - since >= windowMs) endWindow()
    },
  }
}
