/**
 * The lines of a body, those of each part that arrives together. A last line that does not end is none. `reading` runs
 * each wait for more, so that the time the reader of the lines takes does not count as waiting.
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
    // The reader stopped early: cancel the body, and ignore a connection that is closed already.
    await reader.cancel().catch(() => undefined)
  }
}
