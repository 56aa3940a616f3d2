import type { Job } from './queue-usage.js'

/** One class of jobs (first attempts, or retries): a queue per webhook, served round-robin. */
export interface QueueClass<J> {
  /** Attempts in flight that count against the capacity. */
  running: number
  put(webhookId: string, job: J): void
  /** The webhook to serve next; undefined when none has work or the capacity is used up. */
  next(): string | undefined
  /** The webhook's oldest job, which stays. */
  peek(webhookId: string): J | undefined
  /** The webhook's oldest job; it goes behind the others that are ready if it has more. */
  take(webhookId: string): J | undefined
  /** Leaves the webhook out until `unpark`: it may not have more attempts in flight, so what it has queued is held up by it. */
  park(webhookId: string): void
  /** Returns whether it has work. */
  unpark(webhookId: string): boolean
  clear(webhookId: string): J[]
  clearAll(): J[]
}

export function createQueueClass<J extends Pick<Job, 'heldUpSince'>>(
  capacity: number,
  now: () => number,
): QueueClass<J> {
  const queues = new Map<string, J[]>()
  /** Webhooks with work that may run, in the order in which they are served. */
  const ready = new Set<string>()

  /** What is queued waits for its own webhook from now on; what has done so already stands before the rest. */
  function hold(queue: readonly J[]) {
    const at = now()
    for (const job of queue.toReversed()) {
      if (job.heldUpSince !== undefined) return
      job.heldUpSince = at
    }
  }

  const queueClass: QueueClass<J> = {
    running: 0,
    put(webhookId, job) {
      const queue = queues.get(webhookId)
      if (queue) {
        queue.push(job)
        if (!ready.has(webhookId)) hold(queue)
        return
      }
      queues.set(webhookId, [job])
      ready.add(webhookId)
    },
    next() {
      if (queueClass.running >= capacity) return undefined
      const [first] = ready
      return first
    },
    peek: (webhookId) => queues.get(webhookId)?.[0],
    take(webhookId) {
      const queue = queues.get(webhookId)
      const job = queue?.shift()
      ready.delete(webhookId)
      if (queue && queue.length > 0) ready.add(webhookId)
      else queues.delete(webhookId)
      return job
    },
    park(webhookId) {
      ready.delete(webhookId)
      hold(queues.get(webhookId) ?? [])
    },
    unpark(webhookId) {
      const hasWork = queues.has(webhookId)
      if (hasWork) ready.add(webhookId)
      return hasWork
    },
    clear(webhookId) {
      const jobs = queues.get(webhookId) ?? []
      queues.delete(webhookId)
      ready.delete(webhookId)
      return jobs
    },
    clearAll() {
      const jobs = [...queues.values()].flat()
      queues.clear()
      ready.clear()
      return jobs
    },
  }
  return queueClass
}
