import type { IncomingMessage } from 'node:http'
import type { Principal, RouteRule } from '@opsplane/contracts'
import type { Budgets } from '@opsplane/runtime'

/** The limiter slots used by a request, released together and only once. */
export interface RequestSlots {
  add(release: () => void): void
  release(): void
}

export function createRequestSlots(): RequestSlots {
  let pendingReleases: (() => void)[] = []
  return {
    add: (release) => void pendingReleases.push(release),
    release() {
      const releases = pendingReleases
      pendingReleases = []
      for (const release of releases) release()
    },
  }
}

/** Smaller bodies are not counted separately from their request. */
const weighedBytes = 1_024

/** Counts a request against its workspace and its key. Throws ApiError `rate_limited`. */
export function acquireSlots(
  budgets: Budgets,
  slots: RequestSlots,
  { principal, rule, req }: { principal: Principal; rule: RouteRule; req: IncomingMessage },
): void {
  const { workspaceId, tokenId } = principal
  if (workspaceId === undefined) return
  budgets.spend('workspaceRequestsPerMinute', { workspaceId }, 1)
  if (rule.waits) {
    slots.add(budgets.reserve('openPollsPerKey', { workspaceId, key: tokenId }, 1))
    slots.add(budgets.reserve('openPolls', { workspaceId }, 1))
  } else {
    slots.add(budgets.reserve('requestsInFlightPerKey', { workspaceId, key: tokenId }, 1))
    slots.add(budgets.reserve('requestsInFlight', { workspaceId }, 1))
  }
  const bytes = bodyBytes(req, rule.bodyLimitBytes)
  if (bytes > weighedBytes) slots.add(budgets.reserve('requestBytesInFlight', { workspaceId }, bytes))
}

/** Size of the body; the maximum if the request does not state it. */
function bodyBytes({ headers }: IncomingMessage, limitBytes: number): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  if (length !== undefined) return Math.min(Number(length), limitBytes)
  return encoding === undefined ? 0 : limitBytes
}
