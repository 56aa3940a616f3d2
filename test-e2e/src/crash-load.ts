import { isLongTier, pace, waitFor } from '@opsplane/testing'
import type { Api, TestCluster } from './platform.js'

/** Incidents created continuously, whichever part is killed meanwhile. */
export interface CreateLoad {
  /** Incident id by title, for every create that was answered 201. */
  acknowledged: ReadonlyMap<string, string>
  lastAnswer(): string
  /** Number of requests that received an unexpected response, or none. */
  refused(): number
  /** Responses that were neither successful nor marked as retryable. */
  unexpected(): readonly string[]
  /** Number of changes of each incident that were answered 200. */
  changed: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const retryMs = 25
/** The test depends on requests being in flight, not on their number: the long tier has more of them. */
const [ofWorkers, ofPauses, toRecover] = isLongTier() ? [1, 1, 5] : [3, 4, 2]

interface Answer {
  data: { id: string }
  error?: { retryable: boolean }
}

/**
 * Each worker creates one incident after the other, `pauseMs` apart, and changes each `changes` times, repeating
 * each request until it is acknowledged.
 */
export function startCreating(
  api: Api,
  { workers = 6 / ofWorkers, pauseMs = 0, changes = 0, prefix = 'crash' } = {},
): CreateLoad {
  const acknowledged = new Map<string, string>()
  const changed = new Map<string, number>()
  const unexpected: string[] = []
  let refusedCount = 0
  let creating = true
  let lastAnswer = ''

  /**
   * Repeats the request with the same key until it succeeds: a request with an unknown outcome must not take effect
   * twice. `undefined` if the load ends first.
   */
  const sendUntilOk = async (method: 'POST' | 'PATCH', path: string, key: string, body: object) => {
    while (creating) {
      const request = { body, headers: { 'idempotency-key': key } }
      const answer = await api<Answer>(method, path, request).catch((error: unknown) => {
        lastAnswer = String(error)
      })
      if (answer) lastAnswer = `${answer.status} ${JSON.stringify(answer.body)}`
      if (answer?.status === 200 || answer?.status === 201) return answer.body.data.id
      if (answer && answer.body.error?.retryable !== true) unexpected.push(`${method} ${path}: ${lastAnswer}`)
      refusedCount++
      await pace(retryMs)
    }
    return undefined
  }
  const createOne = async (key: string) => {
    const id = await sendUntilOk('POST', '/itsm/incidents', key, { title: key })
    if (id === undefined) return
    acknowledged.set(key, id)
    for (let n = 1; n <= changes; n++) {
      const done = await sendUntilOk('PATCH', `/itsm/incidents/${id}`, `${key}-${n}`, { description: `${n}` })
      if (done === undefined) return
      changed.set(id, n)
    }
  }
  const work = async (worker: number) => {
    for (let n = 0; creating; n++) {
      await createOne(`${prefix}-${worker}-${n}`)
      if (pauseMs > 0) await pace(pauseMs * ofPauses)
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, index) => work(index)))
  return {
    acknowledged,
    changed,
    refused: () => refusedCount,
    unexpected: () => unexpected,
    lastAnswer: () => lastAnswer,
    async stop() {
      creating = false
      await working
    },
  }
}

export type Victim = { kill(): void | Promise<void>; start(): Promise<void> }

/** Kills a part and restarts it, and waits until a number of incidents are created after that. */
export async function killAndRecover(
  cluster: TestCluster,
  { name, victim, more = toRecover }: { name: string; victim: Victim; more?: number },
  load: CreateLoad,
): Promise<void> {
  const before = load.acknowledged.size
  await victim.kill()
  await victim.start()
  await waitFor(() => load.acknowledged.size > before + more, {
    message: `incidents to be created again after a kill of ${name}`,
  }).catch((cause: unknown) => {
    const answer = `the last answer was ${load.lastAnswer()}`
    throw new Error(`${String(cause)}; ${answer}\n${describeServices(cluster)}`, { cause })
  })
}

/** State and last log lines of services, for errors about services that do not recover. */
export function describeServices({ services }: TestCluster): string {
  const conditions = Object.values(services).map(
    (service) => `${service.name}: ${service.ended() ?? 'runs'}\n${service.logTail(6)}`,
  )
  return conditions.join('\n\n')
}
