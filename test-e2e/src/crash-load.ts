import { isLongTier, pace, waitFor } from '@opsplane/testing'
import type { Api, TestCluster } from './platform.js'

/** Incidents created without a break, whatever is killed meanwhile. */
export interface CreateLoad {
  /** Incident id by title, of every create that was answered 201. */
  acknowledged: ReadonlyMap<string, string>
  lastAnswer(): string
  /** How many requests got another answer than they should, or none. */
  refused(): number
  /** Answers that were neither success nor, by their own words, worth another try. */
  unexpected(): readonly string[]
  /** How many changes of each incident were answered 200. */
  changed: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const retryMs = 25
/** What is in flight matters, not how much: the long tier has more of it. */
const [ofWorkers, ofPauses, toRecover] = isLongTier() ? [1, 1, 5] : [3, 4, 2]

interface Answer {
  data: { id: string }
  error?: { retryable: boolean }
}

/**
 * Each worker creates one incident after the other, `pauseMs` apart, and changes each so many times, repeating each
 * request until it is acknowledged.
 */
export function startCreating(
  api: Api,
  { workers = 6 / ofWorkers, pauseMs = 0, changes = 0, prefix = 'crash' } = {},
): CreateLoad {
  const acknowledged = new Map<string, string>()
  const changed = new Map<string, number>()
  const unexpected: string[] = []
  let refused = 0
  let creating = true
  let lastAnswer = ''

  /** The same key until an answer arrives: an unknown outcome must not take effect twice. Undefined at the end. */
  const untilDone = async (method: 'POST' | 'PATCH', path: string, key: string, body: object) => {
    while (creating) {
      const request = { body, headers: { 'idempotency-key': key } }
      const answer = await api<Answer>(method, path, request).catch((error: unknown) => {
        lastAnswer = String(error)
      })
      if (answer) lastAnswer = `${answer.status} ${JSON.stringify(answer.body)}`
      if (answer?.status === 200 || answer?.status === 201) return answer.body.data.id
      if (answer && answer.body.error?.retryable !== true) unexpected.push(`${method} ${path}: ${lastAnswer}`)
      refused++
      await pace(retryMs)
    }
    return undefined
  }
  const createOne = async (key: string) => {
    const id = await untilDone('POST', '/itsm/incidents', key, { title: key })
    if (id === undefined) return
    acknowledged.set(key, id)
    for (let n = 1; n <= changes; n++) {
      const done = await untilDone('PATCH', `/itsm/incidents/${id}`, `${key}-${n}`, { description: `${n}` })
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
    refused: () => refused,
    unexpected: () => unexpected,
    lastAnswer: () => lastAnswer,
    async stop() {
      creating = false
      await working
    },
  }
}

export type Victim = { kill(): void | Promise<void>; start(): Promise<void> }

/** Kills a part and starts it again, and waits until so many incidents are created after that. */
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

/** What services that do not come back, or do not go on, have to say. */
export function describeServices({ services }: TestCluster): string {
  const conditions = Object.values(services).map(
    (service) => `${service.name}: ${service.ended() ?? 'runs'}\n${service.logTail(6)}`,
  )
  return conditions.join('\n\n')
}
