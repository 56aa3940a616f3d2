/**
 * Joins whole chunks into parts of at least `bytes`; the last part may be smaller. Yields nothing if there is no
 * content.
 */
export async function* joinChunks(content: AsyncIterable<Buffer>, bytes: number): AsyncIterable<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of content) {
    waiting.push(chunk)
    size += chunk.length
    if (size < bytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}
