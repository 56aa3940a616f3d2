/**
 * Yields the lines of a body, in batches as they arrive. An unterminated last line is dropped. Each read of the body is
 * wrapped in `reading`, so that a timeout there excludes the time the consumer spends on the lines.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  reading: <Result>(read: () => Promise<Result>) => Promise<Result>,
): AsyncGenerator<string[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let unfinished = ''
  try {
    for (;;) {
      const { done, value } = await reading(() => reader.read())
      if (done) return
      const lines = (unfinished + decoder.decode(value, { stream: true })).split('\n')
      unfinished = lines.pop() ?? ''
      if (lines.length > 0) yield lines
    }
  } finally {
    // The consumer stopped early: cancel the body, and ignore a connection that is already closed.
    await reader.cancel().catch(() => undefined)
  }
}
