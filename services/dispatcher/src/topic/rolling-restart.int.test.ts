import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { TopicEvent } from '@opsplane/contracts'
import { createApiClient, pace, seededRandom, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { bundledDispatcher, type DispatcherProcess, spawnDispatcher } from '../fixture/dispatcher-process.js'
import {
  type Poller,
  publishUntilAcknowledged,
  type Replicas,
  startPollers,
} from '../fixture/topic-clients.js'

/** Number of pollers per topic. */
const share = 10
const publishers = 4
/** LONG_POLLS=10000 runs the full size and prints its figures. */
const full = process.env.LONG_POLLS !== undefined
const polls = Number(process.env.LONG_POLLS ?? 100)
/** POLLS_SEED=… repeats the random choices of a run. */
const seed = Number(process.env.POLLS_SEED ?? 20_252)
/**
 * Half of a poll's timeout: a poll that returns without events this long after an event
 * was acknowledged was not woken by it.
 */
const lostMs = 10_000

interface Sent {
  topic: string
  id: string
  publisher: number
  n: number
  answeredAtMs: number
}

describe(`${polls} waiting polls on two replicas (seed ${seed})`, () => {
  let fixture: DispatcherFixture
  let replicas: Replicas
  const processes: DispatcherProcess[] = []
  beforeAll(async () => {
    fixture = await startDispatcher({
      start: async (env) => {
        const options = { main: bundledDispatcher }
        processes.push(await spawnDispatcher(env, options), await spawnDispatcher(env, options))
        const [first] = processes
        if (!first) throw new Error('no replica was started')
        return { ...first, stop: async () => void (await Promise.all(processes.map((each) => each.stop()))) }
      },
    })
    const { principal, service } = fixture
    replicas = { urls: processes.map(({ url }) => url), headers: () => service.headers(principal) }
  })
  afterAll(() => fixture?.stop())

  const restart = async (index: number, how: 'stop' | 'kill') => {
    const replica = processes[index]
    await replica?.[how]()
    processes[index] = await spawnDispatcher(fixture.env, { port: replica?.port, main: bundledDispatcher })
  }
  const memory = () => processes.map(({ pid }) => residentMb(pid))

  /** Reads the whole topic, like a client that starts now. */
  const contentOf = async (topic: string) => {
    const api = createApiClient(replicas.urls[0] ?? '', replicas.headers)
    const items: TopicEvent[] = []
    for (let more = true, after = ''; more; ) {
      const page = (await api.get(`/events/topics/${topic}/events?limit=200${after}`)).page(TopicEvent)
      items.push(...page.items)
      more = page.pagination.hasMore
      after = `&after=${page.pagination.nextCursor}`
    }
    return items
  }

  /**
   * Publishes bursts to random topics; the next burst follows when all pollers of the topic
   * have received the last one.
   */
  const publishUntil = async (
    stopped: () => boolean,
    run: { topics: string[]; pollers: Poller[]; sent: Sent[]; publisher: number },
  ) => {
    const { topics, pollers, sent, publisher } = run
    const random = seededRandom(seed + publisher)
    for (let n = 0; !stopped(); ) {
      const topic = topics[Math.floor(random() * topics.length)] ?? ''
      let last = ''
      for (let burst = Math.ceil(random() * 3); burst > 0; burst--, n++) {
        const event = { type: 'a', payload: { publisher, n }, deduplicationKey: `${publisher} ${n}` }
        const { id } = await publishUntilAcknowledged(replicas, topic, event)
        sent.push({ topic, id, publisher, n, answeredAtMs: performance.now() })
        last = id
      }
      // The duration of a restart depends on the machine; it is enough if events are published during part of it.
      if (!full) await pace(25)
      const readers = pollers.filter((poller) => poller.topic === topic)
      const isBehind = ({ seen }: Poller) => !seen.some(({ id }) => id === last)
      await waitFor(
        () => {
          const behind = readers.filter(isBehind).map((poller) => `${poller.replica()} ${poller.waiting()}`)
          if (behind.length > 0)
            throw new Error(`behind, with replica and whether asked: ${behind.join(', ')}`)
          return true
        },
        { message: `the polls of ${topic} to be woken` },
      )
    }
  }

  const expectComplete = async (topic: string, pollers: Poller[], sent: Sent[]) => {
    const content = await contentOf(topic)
    const ids = content.map(({ id }) => id)
    expect([...ids].sort()).toEqual(sent.map(({ id }) => id).sort())
    for (let publisher = 0; publisher < publishers; publisher++) {
      const mine = content.filter(({ payload }) => payload.publisher === publisher)
      const expected = sent.filter((event) => event.publisher === publisher).map(({ n }) => n)
      expect(mine.map(({ payload }) => payload.n)).toEqual(expected)
    }
    for (const { seen } of pollers) expect(seen.map(({ id }) => id)).toEqual(ids)
    // The publisher may get its response long after the pollers, if it had to retry.
    const answeredAt = new Map(sent.map(({ id, answeredAtMs }) => [id, answeredAtMs]))
    const lost = pollers.flatMap(({ seen, unanswered }) =>
      unanswered.filter(({ beganMs, endedMs }) =>
        seen.some(({ id, atMs }) => {
          const publishedMs = answeredAt.get(id) ?? Number.POSITIVE_INFINITY
          return beganMs < publishedMs && publishedMs < endedMs - lostMs && atMs > endedMs
        }),
      ),
    )
    expect(lost).toEqual([])
  }

  it.each([
    { how: 'stop', name: 'SIGTERM' },
    { how: 'kill', name: 'SIGKILL' },
  ] as const)(
    'pollers miss no event and receive none twice while the replicas are restarted in turn by $name',
    async ({ how }) => {
      const topics = Array.from({ length: Math.ceil(polls / share) }, (_, index) => `${how}-${index}`)
      const ending = new AbortController()
      const idleMb = memory()
      const followed = Array.from({ length: polls }, (_, index) => topics[index % topics.length] ?? '')
      const pollers = startPollers(replicas, followed, ending.signal)
      const sent: Sent[] = []
      const scenario = async () => {
        await waitFor(() => pollers.every(({ waiting }) => waiting()))
        let stopped = false
        const publishing = Array.from({ length: publishers }, (_, publisher) =>
          publishUntil(() => stopped, { topics, pollers, sent, publisher }),
        )
        const more = async (count: number) => {
          const enough = sent.length + count
          await waitFor(() => stopped || sent.length >= enough, {
            message: 'more to be published',
          })
        }
        const restarting = (async () => {
          await more(full ? 1_000 : 30)
          const steady = sent.length
          await restart(0, how)
          await more(full ? 60 : 30)
          if (full) report(pollers, sent.slice(0, steady), { idleMb, waitingMb: memory() })
          await restart(1, how)
          await more(full ? 60 : 30)
          stopped = true
        })()
        try {
          await Promise.all([restarting, ...publishing])
        } finally {
          stopped = true
          await Promise.allSettled([restarting, ...publishing])
        }
        for (const topic of topics) {
          const followers = pollers.filter((poller) => poller.topic === topic)
          await expectComplete(
            topic,
            followers,
            sent.filter((event) => event.topic === topic),
          )
        }
      }
      try {
        await Promise.race([scenario(), Promise.all(pollers.map(({ running }) => running))])
      } finally {
        ending.abort()
        await Promise.allSettled(pollers.map(({ running }) => running))
      }
    },
  )
})

/** Latency of polls after the response to the publish, measured while no replica restarts. */
function report(pollers: Poller[], sent: Sent[], memory: { idleMb: number[]; waitingMb: number[] }): void {
  const answeredAt = new Map(sent.map(({ id, answeredAtMs }) => [id, answeredAtMs]))
  const latencies = pollers
    .flatMap(({ seen }) => seen.map(({ id, atMs }) => atMs - (answeredAt.get(id) ?? Number.NaN)))
    .filter((latency) => !Number.isNaN(latency))
    .map((latency) => Math.max(0, latency))
    .sort((a, b) => a - b)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)]?.toFixed(1)
  process.stdout.write(
    `${pollers.length} polls: ${latencies.length} wake-ups, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
      `replicas ${memory.idleMb.join(' and ')} MB before, ` +
      `${memory.waitingMb.join(' (restarted) and ')} MB with every poll on the second\n`,
  )
}

/** Resident memory of a process (Linux). */
function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes) / 1024)
}
