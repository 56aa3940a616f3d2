import { Agent, request } from 'undici'

/** One request of a load: its URL, its start time by `performance.now()`, and its response. */
export interface Sent {
  url: string
  startedAt: number
  status: number
}

export interface EvenLoad {
  /** Requests answered so far. */
  sent: readonly Sent[]
  /** Resolves when all requests in flight are answered. */
  stop(): Promise<void>
}

/** Sends GETs at an even rate to the URLs in rotation, whether or not responses arrive. */
export function startEvenLoad(options: {
  urls: string[]
  headers: Record<string, string>
  perSecond: number
}): EvenLoad {
  const { urls, headers, perSecond } = options
  const agent = new Agent({ connections: 64 })
  const sent: Sent[] = []
  const underWay = new Set<Promise<void>>()
  const firstAt = performance.now()
  let count = 0

  const send = async (url: string) => {
    const startedAt = performance.now()
    const answer = await request(url, { headers, dispatcher: agent })
    await answer.body.dump()
    sent.push({ url, startedAt, status: answer.statusCode })
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - firstAt) / 1000) * perSecond
    for (; count < due; count++) {
      // A broken connection is recorded as a response that the test does not allow.
      const url = urls[count % urls.length] ?? ''
      const sending = send(url)
        .catch(() => void sent.push({ url, startedAt: performance.now(), status: 0 }))
        .finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
  }, 5)

  return {
    sent,
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
      await agent.close()
    },
  }
}
