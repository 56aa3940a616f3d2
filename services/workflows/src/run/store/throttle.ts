/** Calls immediately, and then at most every `everyMs` milliseconds: calls in between are combined. */
export function throttle(call: () => void, everyMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  let isPending = false
  const throttled = () => {
    if (timer) {
      isPending = true
      return
    }
    call()
    timer = setTimeout(() => {
      timer = undefined
      if (!isPending) return
      isPending = false
      throttled()
    }, everyMs).unref()
  }
  return throttled
}
