/** Shares one answer among concurrent calls with the same key. */
export function shareInFlight<Asked, Answer>(
  keyOf: (request: Asked) => string,
  answer: (request: Asked) => Promise<Answer>,
): (request: Asked) => Promise<Answer> {
  const answering = new Map<string, Promise<Answer>>()
  return (request) => {
    const key = keyOf(request)
    const known = answering.get(key)
    if (known) return known
    const made = answer(request).finally(() => answering.delete(key))
    answering.set(key, made)
    return made
  }
}
