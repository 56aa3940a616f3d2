import { waitFor } from '@opsplane/testing'
import type { Api, TestCluster } from './platform.js'

/** Incidents created without a break, whatever is killed meanwhile. */
export interface CreateLoad {
  /** Incident id by title, of every create that was answered 201. */
  acknowledged: ReadonlyMap<string, string>
  lastAnswer(): string
  stop(): Promise<void>
}

const retryMs = 25

/** Each worker creates one incident after the other, `pauseMs` apart, repeating each until it is acknowledged. */
export function startCreating(api: Api, { workers = 6, pauseMs = 0 } = {}): CreateLoad {
  const acknowledged = new Map<string, string>()
  let creating = true
  let lastAnswer = ''

  // The same key until an answer arrives: an unknown outcome must not make two incidents.
  const createOne = async (key: string) => {
    while (creating) {
      const request = { body: { title: key }, headers: { 'idempotency-key': key } }
      const answer = await api<{ data: { id: string } }>('POST', '/itsm/incidents', request).catch(
        (error: unknown) => {
          lastAnswer = String(error)
        },
      )
      if (answer) lastAnswer = `${answer.status} ${JSON.stringify(answer.body)}`
      if (answer?.status === 201) return void acknowledged.set(key, answer.body.data.id)
      await pause(retryMs)
    }
  }
  const work = async (worker: number) => {
    for (let n = 0; creating; n++) {
      await createOne(`crash-${worker}-${n}`)
      if (pauseMs > 0) await pause(pauseMs)
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, index) => work(index)))
  return {
    acknowledged,
    lastAnswer: () => lastAnswer,
    async stop() {
      creating = false
      await working
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export type Victim = { kill(): void | Promise<void>; start(): Promise<void> }

/** Kills a part and starts it again, and waits until so many incidents are created after that. */
export async function killAndRecover(
  cluster: TestCluster,
  { name, victim, more = 5 }: { name: string; victim: Victim; more?: number },
  load: CreateLoad,
): Promise<void> {
  const before = load.acknowledged.size
  await victim.kill()
  await victim.start()
  await waitFor(() => load.acknowledged.size > before + more, {
    timeoutMs: 120_000,
    message: `incidents to be created again after a kill of ${name}`,
  }).catch((cause: unknown) => {
    const answer = `the last answer was ${load.lastAnswer()}`
    throw new Error(`${String(cause)}; ${answer}\n${conditionOfServices(cluster)}`, { cause })
  })
}

/** What a service that does not come back has to say. */
function conditionOfServices({ services }: TestCluster): string {
  const conditions = Object.values(services).map(
    (service) => `${service.name}: ${service.ended() ?? 'runs'}\n${service.logTail(6)}`,
  )
  return conditions.join('\n\n')
}
