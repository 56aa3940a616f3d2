import { isLongTier, pace } from '@opsplane/testing'
import type { Api } from '../platform.js'

export interface TopicLoad {
  /** Number of each event whose publishing was answered 201. */
  published: ReadonlySet<number>
  /** Numbers that one reader has seen by long-polls, in their order. */
  read: readonly number[]
  /** Answers that were neither success nor, by their own words, worth another try. */
  unexpected: readonly string[]
  /** How many requests got another answer than they should, or none. */
  refused(): number
  /** Ends the publishing, and the reading once everything has been read. */
  stop(): Promise<void>
}

interface Answer {
  data: { id: string; payload: { n: number } }[]
  pagination: { nextCursor: string | null }
  error?: { retryable: boolean }
}

const retryMs = 20
/** What is in flight matters, not how much: the long tier has more of it. */
const pauseMs = isLongTier() ? 20 : 150

/** Publishes one event after the other to a topic, and reads them by long-polls as one subscriber; both try again as documented. */
export function startTopic(api: Api, topic: string): TopicLoad {
  const published = new Set<number>()
  const read: number[] = []
  const unexpected: string[] = []
  let publishing = true
  let complete = false
  let refused = 0

  const again = async <T extends { error?: { retryable: boolean } }>(
    what: string,
    send: () => ReturnType<typeof api<T>>,
  ): Promise<T | undefined> => {
    const answer = await send().catch(() => undefined)
    if (answer && answer.status < 300) return answer.body
    if (answer && answer.body.error?.retryable !== true)
      unexpected.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
    refused++
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
    refused: () => refused,
    async stop() {
      publishing = false
      await working
    },
  }
}
