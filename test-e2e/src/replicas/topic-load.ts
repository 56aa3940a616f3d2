import { isLongTier, pace } from '@opsplane/testing'
import type { Api } from '../platform.js'

export interface TopicLoad {
  /** Number of each event whose publish was answered 201. */
  published: ReadonlySet<number>
  /** Numbers that one reader has received by long polls, in order. */
  read: readonly number[]
  /** Responses that were neither successful nor marked as retryable. */
  unexpected: readonly string[]
  /** Number of requests that received an unexpected response, or none. */
  refused(): number
  /** Stops publishing, and stops reading once everything has been read. */
  stop(): Promise<void>
}

interface Answer {
  data: { id: string; payload: { n: number } }[]
  pagination: { nextCursor: string | null }
  error?: { retryable: boolean }
}

const retryMs = 20
/** The test depends on requests being in flight, not on their number: the long tier has more of them. */
const pauseMs = isLongTier() ? 20 : 150

/**
 * Publishes one event after the other to a topic, and reads them by long polls as one subscriber; both retry as
 * documented.
 */
export function startTopic(api: Api, topic: string): TopicLoad {
  const published = new Set<number>()
  const read: number[] = []
  const unexpected: string[] = []
  let publishing = true
  let complete = false
  let refusedCount = 0

  const again = async <T extends { error?: { retryable: boolean } }>(
    requestName: string,
    send: () => ReturnType<typeof api<T>>,
  ): Promise<T | undefined> => {
    const answer = await send().catch(() => undefined)
    if (answer && answer.status < 300) return answer.body
    if (answer && answer.body.error?.retryable !== true)
      unexpected.push(`${requestName}: ${answer.status} ${JSON.stringify(answer.body)}`)
    refusedCount++
    await pace(retryMs)
    return undefined
  }
  const publish = async () => {
    for (let n = 0; publishing; n++) {
      const body = { type: 'counted', payload: { n }, deduplicationKey: `n-${n}` }
      const path = `/events/topics/${topic}/publish`
      for (let done = false; !done; )
        done = (await again('publish', () => api('POST', path, { body }))) !== undefined
      published.add(n)
      await pace(pauseMs)
    }
  }
  const poll = async () => {
    let cursor = ''
    while (!complete || read.length < published.size) {
      const path = `/events/topics/${topic}/events?timeout=2000${cursor === '' ? '' : `&after=${cursor}`}`
      const page = await again<Answer>('poll', () => api<Answer>('GET', path))
      for (const { payload } of page?.data ?? []) read.push(payload.n)
      cursor = page?.data.at(-1)?.id ?? cursor
    }
  }
  const publishAll = publish().finally(() => {
    complete = true
  })
  const working = Promise.all([publishAll, poll()])
  return {
    ...{ published, read, unexpected },
    refused: () => refusedCount,
    async stop() {
      publishing = false
      await working
    },
  }
}
