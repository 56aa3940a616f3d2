import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api'

/**
 * Keeps what is under way through all that is awaited, for as long as something is. On Node 20 that takes a hook into each promise
 * of the process, which doubles what one costs: from the first thing that is followed to the last, and no longer.
 */
export function followedContext(): ContextManager {
  const store = new AsyncLocalStorage<Context>()
  let underWay = 0
  const over = () => {
    if (--underWay === 0) store.disable()
  }
  const manager: ContextManager = {
    active: () => store.getStore() ?? ROOT_CONTEXT,
    with(context, work, thisArg, ...args) {
      underWay++
      let isAwaited = false
      try {
        const result = store.run(context, () => work.apply(thisArg, args))
        if (result instanceof Promise) {
          isAwaited = true
          result.then(over, over)
        }
        return result
      } finally {
        if (!isAwaited) over()
      }
    },
    bind(context, target) {
      if (typeof target !== 'function') return target
      const bound = (...args: unknown[]) => manager.with(context, () => target(...args))
      return bound as typeof target
    },
    enable: () => manager,
    disable() {
      store.disable()
      return manager
    },
  }
  return manager
}
