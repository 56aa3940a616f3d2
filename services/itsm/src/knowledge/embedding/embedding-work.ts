import type { Drizzle } from '@opsplane/postgres'
import { delay, type Logger } from '@opsplane/runtime'
import { claimChunks, postpone, queueChunks, storeVectors } from './chunk-queue.js'
import type { Embedder } from './embedder.js'

export interface EmbeddingWorkOptions {
  db: Drizzle
  embedder: Embedder
  log: Logger
  nowMs(): number
}

const atOnce = 16
const deadlineMs = 30_000
/** Longer than an attempt can take, so that only a dead replica's pieces are taken over. */
const leaseMs = 60_000
const lookEveryMs = 1_000

/** Embeds what is published, in the background. What is to do is read from the database, so nothing is lost. */
export function startEmbeddingWork({ db, embedder, log, nowMs }: EmbeddingWorkOptions) {
  const closing = new AbortController()
  const { model } = embedder
  let failing = false

  /** Whether there is more to do at once. */
  const round = async (): Promise<boolean> => {
    const queued = await queueChunks(db, model, nowMs())
    const claimed = await claimChunks(db, { model, nowMs: nowMs(), leaseMs, limit: atOnce })
    if (claimed.length === 0) return queued > 0
    try {
      const texts = claimed.map(({ content }) => content)
      await storeVectors(db, claimed, await embedder.embed(texts, deadlineMs))
      failing = false
      return true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (!failing) log.warn({ model, reason }, 'articles cannot be embedded; it is tried again')
      failing = true
      await postpone(db, claimed, nowMs(), reason)
      return false
    }
  }

  const run = async () => {
    while (!closing.signal.aborted) {
      const more = await round().catch((error: unknown) => {
        if (!failing) log.warn({ err: error }, 'the articles to embed cannot be read')
        failing = true
        return false
      })
      if (!more) await delay(lookEveryMs, closing.signal)
    }
  }
  const running = run()
  return {
    async close(): Promise<void> {
      closing.abort()
      await running
    },
  }
}
