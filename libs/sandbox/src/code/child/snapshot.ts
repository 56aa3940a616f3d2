/** A copy of the parts of an instance's memory that define its state. */
interface Snapshot {
  /** Must not be called while code runs in the instance, or after its memory has grown. */
  restore(): void
}

const chunkBytes = 64 * 1024
const zeros = Buffer.alloc(chunkBytes)

/**
 * Copies the memory that a fresh instance uses: static data, and the heap up to the last used byte. Not copied are the
 * stack, which is empty between calls (the longest run of zeros), and the memory after the heap, which is always written
 * before it is read.
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

/** Start and end of the longest run of unused chunks. */
function longestGap(used: readonly boolean[]): [from: number, to: number] {
  let [longest, from]: [[number, number], number] = [[0, 0], 0]
  for (let chunk = 0; chunk <= used.length; chunk++) {
    if (chunk < used.length && !used[chunk]) continue
    if (chunk - from > longest[1] - longest[0]) longest = [from, chunk]
    from = chunk + 1
  }
  return longest
}
