/** Queues of one kind of job, one per webhook, served in turn. */
export interface Lane<J> {
  /** Attempts under way that count against the capacity. */
  running: number
  put(webhookId: string, job: J): void
  /** The webhook whose turn it is; undefined when none has work or the capacity is used up. */
  next(): string | undefined
  /** The webhook's oldest job, which stays. */
  peek(webhookId: string): J | undefined
  /** The webhook's oldest job; it goes to the end of the line if it has more. */
  take(webhookId: string): J | undefined
  /** Takes the webhook out of the line until `unpark`: it may not have more attempts under way. */
  park(webhookId: string): void
  unpark(webhookId: string): void
  clear(webhookId: string): J[]
  clearAll(): J[]
}

export function createLane<J>(capacity: number): Lane<J> {
  const queues = new Map<string, J[]>()
  /** Webhooks with work that may run, in order of their turns. */
  const line = new Set<string>()

  const lane: Lane<J> = {
    running: 0,
    put(webhookId, job) {
      const queue = queues.get(webhookId)
      if (queue) {
        queue.push(job)
        return
      }
      queues.set(webhookId, [job])
      line.add(webhookId)
    },
    next() {
      if (lane.running >= capacity) return undefined
      const [first] = line
      return first
    },
    peek: (webhookId) => queues.get(webhookId)?.[0],
    take(webhookId) {
      const queue = queues.get(webhookId)
      const job = queue?.shift()
      line.delete(webhookId)
      if (queue && queue.length > 0) line.add(webhookId)
      else queues.delete(webhookId)
      return job
    },
    park: (webhookId) => void line.delete(webhookId),
    unpark(webhookId) {
      if (queues.has(webhookId)) line.add(webhookId)
    },
    clear(webhookId) {
      const jobs = queues.get(webhookId) ?? []
      queues.delete(webhookId)
      line.delete(webhookId)
      return jobs
    },
    clearAll() {
      const jobs = [...queues.values()].flat()
      queues.clear()
      line.clear()
      return jobs
    },
  }
  return lane
}
