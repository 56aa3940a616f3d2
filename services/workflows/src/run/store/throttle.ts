/** Says so at once, and then at most every `everyMs`: what comes in between is said together. */
export function createThrottledLog(say: () => void, everyMs: number): () => void {
  let timer: NodeJS.Timeout | undefined
  let again = false
  const ask = () => {
    if (timer) {
      again = true
      return
    }
    say()
    timer = setTimeout(() => {
      timer = undefined
      if (!again) return
      again = false
      ask()
    }, everyMs).unref()
  }
  return ask
}
