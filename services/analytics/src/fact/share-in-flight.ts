/** Shares one answer among concurrent calls with the same key. */
export function shareInFlight<Asked, Answer>(
  keyOf: (asked: Asked) => string,
  answer: (asked: Asked) => Promise<Answer>,
): (asked: Asked) => Promise<Answer> {
  const answering = new Map<string, Promise<Answer>>()
  return (asked) => {
    const key = keyOf(asked)
    const known = answering.get(key)
    if (known) return known
    const made = answer(asked).finally(() => answering.delete(key))
    answering.set(key, made)
    return made
  }
}
