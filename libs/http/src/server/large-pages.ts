import type { ServerResponse } from 'node:http'

/** Pages of more items count as large: several of them at once would occupy the event loop for tens of milliseconds. */
const largeLimit = 50
/** A client that reads slowly does not delay the other pages of its workspace for longer. */
const longestMs = 1_000

/** Limits the large pages that are read and sent at the same time, per workspace; further ones wait in order of arrival. */
export interface LargePages {
  /** Runs `work` once fewer than the limit are under way; the page counts until its response is flushed or closed. */
  run(workspaceId: string, res: ServerResponse, work: () => Promise<void>): Promise<void>
}

interface Queue {
  active: number
  waiting: (() => void)[]
}

/** Whether the parsed query of a list asks for a large page. */
export const isLargePage = (query: unknown): boolean =>
  Number((query as { limit?: number }).limit) > largeLimit

export function createLargePages(perWorkspace = 2): LargePages {
  const queues = new Map<string, Queue>()

  const acquire = async (workspaceId: string): Promise<void> => {
    const queue = queues.get(workspaceId) ?? { active: 0, waiting: [] }
    queues.set(workspaceId, queue)
    if (queue.active < perWorkspace) queue.active++
    else await new Promise<void>((resolve) => queue.waiting.push(resolve))
  }
  const release = (workspaceId: string): void => {
    const queue = queues.get(workspaceId)
    if (!queue) return
    const next = queue.waiting.shift()
    if (next) next()
    else if (--queue.active === 0) queues.delete(workspaceId)
  }

  return {
    async run(workspaceId, res, work) {
      await acquire(workspaceId)
      try {
        await work()
      } finally {
        onceFlushed(res, () => release(workspaceId))
      }
    },
  }
}

/** Calls back once: when the response is flushed or closed, or has taken too long to be. */
function onceFlushed(res: ServerResponse, callback: () => void): void {
  // A response that failed is not ended yet; its error is sent next, and is small.
  if (res.writableFinished || res.destroyed || !res.writableEnded) {
    callback()
    return
  }
  const timer = setTimeout(settle, longestMs)
  res.once('finish', settle).once('close', settle)
  let isSettled = false
  function settle() {
    clearTimeout(timer)
    if (!isSettled) callback()
    isSettled = true
  }
}
