export interface Sized {
  bytes: number
}

/** Keeps what was used last, as long as all of it together has at most `mostBytes`. */
export function sizedCache<Value extends Sized>(mostBytes: number) {
  const entries = new Map<string, Value>()
  let bytes = 0
  const remove = (key: string) => {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  return {
    get(key: string): Value | undefined {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    /** The newest is kept however large it is. */
    set(key: string, value: Value): void {
      remove(key)
      entries.set(key, value)
      bytes += value.bytes
      for (const oldest of entries.keys()) {
        if (bytes <= mostBytes || oldest === key) return
        remove(oldest)
      }
    },
    get bytes() {
      return bytes
    },
  }
}
export type SizedCache<Value extends Sized> = ReturnType<typeof sizedCache<Value>>
