import type { ServerResponse } from 'node:http'
import { createKeyedSemaphore } from '@opsplane/runtime'

/**
 * Pages of more items count as large: several of them concurrently would occupy
 * the event loop for tens of milliseconds.
 */
const largeLimit = 50
/** Maximum time a page counts as in progress, so that a slow client does not block the other pages of its workspace. */
const longestMs = 1_000

/** Limits the large pages that are read and sent concurrently per workspace; further ones wait in order of arrival. */
interface LargePages {
  /** Runs `work` once fewer than the limit are in progress; the page counts until its response is flushed or closed. */
  run(workspaceId: string, res: ServerResponse, work: () => Promise<void>): Promise<void>
}

/** Whether the parsed query of a list requests a large page. */
export const isLargePage = (query: unknown): boolean =>
  Number((query as { limit?: number }).limit) > largeLimit

export function createLargePages(perWorkspace = 2): LargePages {
  const semaphore = createKeyedSemaphore(perWorkspace)
  return {
    run: (workspaceId, res, work) =>
      semaphore(workspaceId, async () => {
        await work()
        await flushed(res)
      }),
  }
}

/** Resolves when the response is flushed or closed, or after `longestMs`. */
function flushed(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (res.writableFinished || res.destroyed) return resolve()
    const settle = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(settle, longestMs)
    res.once('finish', settle).once('close', settle)
  })
}
