import { ApiError } from '@opsplane/contracts'

/** How much of a costly work may be under way in this process. */
export interface ConcurrencyLimits {
  perWorkspace: number
}

/** What would only queue is refused, which costs next to nothing: the process is there for everybody else. */
export interface ConcurrencyLimiter {
  /** Throws `service_unavailable` where the workspace has its share already, whatever others do. */
  run<T>(workspaceId: string, work: () => Promise<T>): Promise<T>
  /** The same for what comes bit by bit; the share is taken with the first bit and lasts until the reader has enough. */
  stream<T>(workspaceId: string, bits: () => AsyncIterable<T>): AsyncGenerator<T>
}

export function createConcurrencyLimiter(
  { perWorkspace }: ConcurrencyLimits,
  refusal: string,
): ConcurrencyLimiter {
  const underWay = new Map<string, number>()

  const enter = (workspaceId: string) => {
    const own = underWay.get(workspaceId) ?? 0
    if (own >= perWorkspace) throw new ApiError('service_unavailable', refusal)
    underWay.set(workspaceId, own + 1)
  }
  const leave = (workspaceId: string) => {
    const left = (underWay.get(workspaceId) ?? 1) - 1
    if (left > 0) underWay.set(workspaceId, left)
    else underWay.delete(workspaceId)
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
