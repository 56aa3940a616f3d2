/** Words joined by commas, as Postgres sends them. */
export interface Joined {
  bytes: Uint8Array
  /** How many words they are. */
  size: number
}

const comma = 44

/**
 * Numbers words in the order they are met. Ten thousands of ids are distinguished by their bytes: as strings they would all
 * have to be made, and be hashed and compared outside compiled code.
 */
export class StringInterner {
  /** The bytes of all words, one after the other, and where each begins. */
  #bytes = new Uint8Array(1 << 16)
  #begins = new Int32Array(1 << 11)
  /** One more than the number of the word at each place, twice as many as there is room for words. */
  #slots = new Int32Array(1 << 12)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number of each word. */
  numbersOf({ bytes, size }: Joined): Int32Array {
    const numbers = new Int32Array(size)
    let [begin, at] = [0, 0]
    for (; at < size && begin <= bytes.length; at++) {
      let hash = 0
      let end = begin
      for (; end < bytes.length && bytes[end] !== comma; end++) hash = mixed(hash, bytes[end] as number)
      numbers[at] = this.#numberOf(bytes, begin, end, hash)
      begin = end + 1
    }
    if (at !== size || begin !== bytes.length + Number(size > 0))
      throw new Error(`there are not ${size} words`)
    return numbers
  }

  numberOf(word: string): number {
    return this.numbersOf({ bytes: new TextEncoder().encode(word), size: 1 })[0] as number
  }

  wordOf(number: number): string {
    const [begin, end] = [this.#begins[number] as number, this.#begins[number + 1] as number]
    return Buffer.from(this.#bytes.buffer, begin, end - begin).toString()
  }

  #numberOf(bytes: Uint8Array, begin: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (let found = this.#slots[slot] as number; found !== 0; found = this.#slots[slot] as number) {
      if (this.#isWord(found - 1, bytes, begin, end)) return found - 1
      slot = (slot + 1) & mask
    }
    return this.#add(bytes.subarray(begin, end), slot)
  }

  #isWord(number: number, bytes: Uint8Array, begin: number, end: number): boolean {
    const known = this.#bytes
    let at = this.#begins[number] as number
    if ((this.#begins[number + 1] as number) - at !== end - begin) return false
    for (let other = begin; other < end; other++) if (bytes[other] !== known[at++]) return false
    return true
  }

  #add(word: Uint8Array, slot: number): number {
    const number = this.#size++
    const begin = this.#begins[number] as number
    const end = begin + word.length
    if (end > this.#bytes.length) this.#bytes = grown(this.#bytes, new Uint8Array(end * 2))
    this.#bytes.set(word, begin)
    this.#begins[number + 1] = end
    this.#slots[slot] = number + 1
    if (number + 2 === this.#begins.length) this.#grow()
    return number
  }

  #grow(): void {
    this.#begins = grown(this.#begins, new Int32Array(this.#begins.length * 2))
    this.#slots = new Int32Array(this.#slots.length * 2)
    const mask = this.#slots.length - 1
    for (let number = 0; number < this.#size; number++) {
      let hash = 0
      const end = this.#begins[number + 1] as number
      for (let at = this.#begins[number] as number; at < end; at++)
        hash = mixed(hash, this.#bytes[at] as number)
      let slot = hash & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = number + 1
    }
  }
}

/** Its low bits depend on all bytes so far. */
function mixed(hash: number, byte: number): number {
  const next = Math.imul(hash ^ byte, 0x9e3779b1)
  return next ^ (next >>> 15)
}

function grown<Bytes extends Uint8Array | Int32Array>(bytes: Bytes, larger: Bytes): Bytes {
  larger.set(bytes)
  return larger
}

/** Each word by itself. */
export function stringsOf({ bytes, size }: Joined): string[] {
  const words =
    size === 0 ? [] : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split(',')
  if (words.length !== size) throw new Error(`${words.length} words are not ${size}`)
  return words
}

/** The same of few different words, each of which is made once. */
export function sharedStringsOf(joined: Joined): string[] {
  const words = new StringInterner()
  const numbers = words.numbersOf(joined)
  const strings = Array.from({ length: words.size }, (_, number) => words.wordOf(number))
  const shared = new Array<string>(joined.size)
  for (let at = 0; at < joined.size; at++) shared[at] = strings[numbers[at] as number] as string
  return shared
}
