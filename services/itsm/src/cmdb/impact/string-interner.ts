/** Words joined by commas, as sent by Postgres. */
export interface Joined {
  bytes: Uint8Array
  /** Number of words. */
  size: number
}

/** Assigns numbers to words in the order of their first occurrence. */
export class StringInterner {
  #numbers = new Map<string, number>()
  #words: string[] = []

  get size(): number {
    return this.#words.length
  }

  /** Returns the number of each word. */
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

/**
 * Splits joined words. Throws if their number is not as expected, because values would then be assigned to
 * wrong rows.
 */
export function splitWords({ bytes, size }: Joined): string[] {
  const words =
    size === 0 ? [] : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split(',')
  if (words.length !== size) throw new Error(`${words.length} words are not ${size}`)
  return words
}
