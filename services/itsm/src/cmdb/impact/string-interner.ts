/** Words joined by commas, as Postgres sends them. */
export interface Joined {
  bytes: Uint8Array
  /** How many words they are. */
  size: number
}

/** Numbers words in the order they are met. */
export class StringInterner {
  #numbers = new Map<string, number>()
  #words: string[] = []

  get size(): number {
    return this.#words.length
  }

  /** The number of each word. */
  numbersOf(joined: Joined): Int32Array {
    return Int32Array.from(splitWords(joined), (word) => this.numberOf(word))
  }

  numberOf(word: string): number {
    const known = this.#numbers.get(word)
    if (known !== undefined) return known
    const number = this.#words.push(word) - 1
    this.#numbers.set(word, number)
    return number
  }

  wordOf(number: number): string {
    return this.#words[number] as string
  }
}

/** Each word by itself. Throws where they are not as many as they should be: what follows would stand at the wrong place. */
export function splitWords({ bytes, size }: Joined): string[] {
  const words =
    size === 0 ? [] : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split(',')
  if (words.length !== size) throw new Error(`${words.length} words are not ${size}`)
  return words
}
