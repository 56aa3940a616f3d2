import { epochMs, type Process, type World } from '@opsplane/testing'
import type { Target } from '../../webhook/target.js'
import type { AttemptContent, AttemptRecord, AttemptResult, MakeAttempt } from '../send/attempt.js'

type Mood = 'well' | 'broken' | 'busy' | 'slow' | 'silent' | 'gone'

/** A request that an endpoint received for a webhook. */
export interface Receipt {
  text: string
  times: number
  /** Whether the endpoint accepted it. */
  isAccepted: boolean
}

/** The endpoints of the webhooks, and the network in front of them. */
export class Endpoints {
  /** By webhook and event. */
  readonly receipts = new Map<string, Receipt>()
  readonly #world: World
  readonly #moods = new Map<string, Mood>()

  constructor(world: World) {
    this.#world = world
  }

  spoil(webhookId: string): void {
    const mood = this.#world.pick<Mood>(['well', 'broken', 'broken', 'busy', 'slow', 'silent', 'gone'])
    this.#world.note(`the endpoint of ${webhookId} is ${mood}`)
    this.#moods.set(webhookId, mood)
  }

  mend(webhookId: string): void {
    this.#moods.delete(webhookId)
  }

  /** Creates the function with which a process makes attempts. `onSent` is called when a request leaves the process. */
  attemptOf(process: Process, onSent: (content: AttemptContent, target: Target) => void): MakeAttempt {
    const world = this.#world
    return async (target, content, signal, isInTime = () => true) => {
      await new Promise<void>((resolve) => {
        process.after(world.chance(0.02) ? world.between(1_000, 20_000) : world.between(0.1, 5), resolve)
      })
      const startedAt = world.now
      if (signal.aborted || !isInTime()) return { kind: 'postponed', reason: new Error('it is too late') }
      onSent(content, target)
      const status = await this.#request(process, target, content, signal)
      if (status === 'stopped') return { kind: 'postponed', reason: new Error('the process stops') }
      return resultOf(target, status, { startedAt, endedAt: world.now })
    }
  }

  #request(
    process: Process,
    target: Target,
    content: AttemptContent,
    signal: AbortSignal,
  ): Promise<number | 'timeout' | 'stopped'> {
    const world = this.#world
    return new Promise((resolve) => {
      const stop = () => resolve('stopped')
      signal.addEventListener('abort', stop)
      process.after(target.timeoutMs, () => resolve('timeout'))
      world.after(world.between(0.2, 20), () => {
        const mood = this.#moods.get(target.id) ?? (world.isHostile && world.chance(0.03) ? 'broken' : 'well')
        const status = this.#receive(target, content, mood)
        if (mood === 'silent') return
        const latencyMs = mood === 'slow' ? world.between(500, 2 * target.timeoutMs) : world.between(0.2, 20)
        process.after(latencyMs, () => {
          signal.removeEventListener('abort', stop)
          resolve(status)
        })
      })
    })
  }

  #receive(target: Target, { id, text }: AttemptContent, mood: Mood): number {
    const status = { well: 200, slow: 200, silent: 200, broken: 500, busy: 503, gone: 410 }[mood]
    const name = `${target.id} ${id}`
    const before = this.receipts.get(name)
    this.#world.note(`${name} arrives and is answered ${status}, ${mood}`)
    if (before && before.text !== text) this.#world.broken(`${name} arrives with another body`)
    const isAccepted = status === 200 || before?.isAccepted === true
    this.receipts.set(name, { text, times: (before?.times ?? 0) + 1, isAccepted })
    return status
  }
}

function resultOf(
  target: Target,
  status: number | 'timeout',
  { startedAt, endedAt }: { startedAt: number; endedAt: number },
): AttemptResult {
  const record: AttemptRecord = {
    timings: null,
    startedAt: new Date(epochMs + startedAt).toISOString(),
    durationMs: Math.round(endedAt - startedAt),
    ...{ url: target.url, requestHeaders: {} },
    response: null,
    error: null,
  }
  if (status === 'timeout') {
    const error = { kind: 'timeout', message: 'The endpoint did not answer in time.' } as const
    return { kind: 'attempted', outcome: { kind: 'failed', error }, record: { ...record, error } }
  }
  const retryAfterMs = status === 503 ? 4_000 : undefined
  return {
    kind: 'attempted',
    outcome: { kind: 'answered', status, retryAfterMs },
    record: {
      ...record,
      response: { status, headers: {}, body: '', truncated: false },
      error: status === 200 ? null : { kind: 'status', message: `The endpoint answered ${status}.` },
    },
  }
}
