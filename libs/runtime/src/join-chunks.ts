/** The same bytes in parts of at least `bytes`, of whole chunks; the last one may be smaller. No content gives no part. */
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
