import { ApiError } from '@opsplane/contracts'

/** Lets so much of a costly work be under way in this process: of one workspace, and of all of them. */
export interface ShareLimits {
  perWorkspace: number
  total: number
}

/** Runs the work, or throws `service_unavailable` where the workspace, or everybody, has its share already. */
export type InShare = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>

/** What would only queue is refused, which costs next to nothing: the process is there for everybody else. */
export function createShares({ perWorkspace, total }: ShareLimits, refusal: string): InShare {
  const underWay = new Map<string, number>()
  let all = 0

  return async (workspaceId, work) => {
    const own = underWay.get(workspaceId) ?? 0
    if (own >= perWorkspace || all >= total) throw new ApiError('service_unavailable', refusal)
    all++
    underWay.set(workspaceId, own + 1)
    try {
      return await work()
    } finally {
      all--
      const left = (underWay.get(workspaceId) ?? 1) - 1
      if (left > 0) underWay.set(workspaceId, left)
      else underWay.delete(workspaceId)
    }
  }
}
