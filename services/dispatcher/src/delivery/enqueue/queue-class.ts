import type { Job } from './queue-usage.js'

/** One class of jobs (first attempts, or retries): a queue per webhook, served round-robin. */
export class QueueClass<J extends Pick<Job, 'heldUpSince'>> {
  /** Attempts in flight that count against the capacity. */
  running = 0
  readonly #capacity: number
  readonly #now: () => number
  readonly #queues = new Map<string, J[]>()
  /** Webhooks with work that may run, in serving order. */
  readonly #ready = new Set<string>()

  constructor(capacity: number, now: () => number) {
    this.#capacity = capacity
    this.#now = now
  }

  put(webhookId: string, job: J): void {
    const queue = this.#queues.get(webhookId)
    if (queue) {
      queue.push(job)
      if (!this.#ready.has(webhookId)) this.#markHeldUp(queue)
      return
    }
    this.#queues.set(webhookId, [job])
    this.#ready.add(webhookId)
  }

  /** The webhook to serve next; `undefined` if none has work or the capacity is used up. */
  next(): string | undefined {
    if (this.running >= this.#capacity) return undefined
    const [first] = this.#ready
    return first
  }

  /** The webhook's oldest job, without removing it. */
  peek(webhookId: string): J | undefined {
    return this.#queues.get(webhookId)?.[0]
  }

  /** Removes the webhook's oldest job. If it has more, the webhook moves behind the other ready ones. */
  shift(webhookId: string): J | undefined {
    const queue = this.#queues.get(webhookId)
    const job = queue?.shift()
    this.#ready.delete(webhookId)
    if (queue && queue.length > 0) this.#ready.add(webhookId)
    else this.#queues.delete(webhookId)
    return job
  }

  /**
   * Skips the webhook until `unpark`, because it may not have more attempts in flight; its
   * queued jobs are marked as held up.
   */
  park(webhookId: string): void {
    this.#ready.delete(webhookId)
    this.#markHeldUp(this.#queues.get(webhookId) ?? [])
  }

  /** Returns whether it has work. */
  unpark(webhookId: string): boolean {
    const hasWork = this.#queues.has(webhookId)
    if (hasWork) this.#ready.add(webhookId)
    return hasWork
  }

  clear(webhookId: string): J[] {
    const jobs = this.#queues.get(webhookId) ?? []
    this.#queues.delete(webhookId)
    this.#ready.delete(webhookId)
    return jobs
  }

  clearAll(): J[] {
    return [...this.#queues.keys()].flatMap((webhookId) => this.clear(webhookId))
  }

  /** Marks the queued jobs as waiting for their own webhook. Jobs already marked come first in the queue. */
  #markHeldUp(queue: readonly J[]): void {
    const at = this.#now()
    for (const job of queue.toReversed()) {
      if (job.heldUpSince !== undefined) return
      job.heldUpSince = at
    }
  }
}
