import { ApiError } from '@opsplane/contracts'

/** How many costly operations may run in this process at a time. */
export interface ConcurrencyLimits {
  perWorkspace: number
}

/** What would only queue is refused, which costs almost nothing, so that the process keeps serving others. */
export interface ConcurrencyLimiter {
  /** Throws `service_unavailable` where the workspace has its share already, whatever others do. */
  run<T>(workspaceId: string, work: () => Promise<T>): Promise<T>
  /** The same for a stream; the slot is acquired with its first item and released when the reader is done. */
  stream<T>(workspaceId: string, bits: () => AsyncIterable<T>): AsyncGenerator<T>
}

export function createConcurrencyLimiter(
  { perWorkspace }: ConcurrencyLimits,
  refusal: string,
): ConcurrencyLimiter {
  const inFlight = new Map<string, number>()

  const enter = (workspaceId: string) => {
    const own = inFlight.get(workspaceId) ?? 0
    if (own >= perWorkspace) throw new ApiError('service_unavailable', refusal)
    inFlight.set(workspaceId, own + 1)
  }
  const leave = (workspaceId: string) => {
    const left = (inFlight.get(workspaceId) ?? 1) - 1
    if (left > 0) inFlight.set(workspaceId, left)
    else inFlight.delete(workspaceId)
  }

  return {
    async run(workspaceId, work) {
      enter(workspaceId)
      try {
        return await work()
      } finally {
        leave(workspaceId)
      }
    },
    async *stream(workspaceId, bits) {
      enter(workspaceId)
      try {
        yield* bits()
      } finally {
        leave(workspaceId)
      }
    },
  }
}
