/** What of the memory of an instance has to be put back for everything in it to be as it was. */
interface Snapshot {
  /** Not while anything runs in the instance, nor after its memory has grown. */
  restore(): void
}

const chunkBytes = 64 * 1024
const zeros = Buffer.alloc(chunkBytes)

/**
 * Copies what a fresh instance has in its memory so far: its static data, and its heap up to the last byte in use. Left alone are
 * the stack, which is empty between calls (the longest run of zeros), and the memory behind the heap, which nothing
 * reads before writing to it.
 */
export function createSnapshot(memory: { readonly buffer: ArrayBuffer }): Snapshot {
  const bytes = new Uint8Array(memory.buffer)
  const used = chunksInUse(Buffer.from(memory.buffer))
  const top = used.lastIndexOf(true) + 1
  const [from, to] = longestGap(used.slice(0, top))
  const kept = [
    { at: 0, copy: bytes.slice(0, from * chunkBytes) },
    { at: to * chunkBytes, copy: bytes.slice(to * chunkBytes, top * chunkBytes) },
  ].filter(({ copy }) => copy.length > 0)
  return {
    restore() {
      for (const { at, copy } of kept) bytes.set(copy, at)
    },
  }
}

const chunksInUse = (memory: Buffer): boolean[] =>
  Array.from(
    { length: memory.length / chunkBytes },
    (_, chunk) => !zeros.equals(memory.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)),
  )

/** Where the longest run of chunks that are not in use begins and ends. */
function longestGap(used: readonly boolean[]): [from: number, to: number] {
  let [longest, from]: [[number, number], number] = [[0, 0], 0]
  for (let chunk = 0; chunk <= used.length; chunk++) {
    if (chunk < used.length && !used[chunk]) continue
    if (chunk - from > longest[1] - longest[0]) longest = [from, chunk]
    from = chunk + 1
  }
  return longest
}
