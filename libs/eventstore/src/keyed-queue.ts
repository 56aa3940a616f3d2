/** Runs tasks of one key one after the other; tasks of different keys do not wait for each other. */
interface KeyedQueue {
  run<T>(key: string, task: () => Promise<T>): Promise<T>
}

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>()
  return {
    run(key, task) {
      const before = last.get(key)
      const result = before ? before.then(task, task) : task()
      last.set(key, result)
      const forget = () => {
        if (last.get(key) === result) last.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}
