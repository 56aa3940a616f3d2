/** Reads the token from the URL fragment, which is never sent to a server, and removes it from the URL and browser history. */
export function tokenFrom(
  { hash, pathname, search }: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
): string | undefined {
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? undefined
  if (token !== undefined) history.replaceState(null, '', `${pathname}${search}`)
  return token
}

const kept = 'opsplane-address-token'

/** Stores the token of the URL while the person signs in first, because the return address has no fragment. */
export function keepToken(storage: Pick<Storage, 'setItem'>, ...args: Parameters<typeof tokenFrom>): void {
  const token = tokenFrom(...args)
  if (token !== undefined) storage.setItem(kept, token)
}

export function consumeKeptToken(storage: Pick<Storage, 'getItem' | 'removeItem'>): string | undefined {
  const token = storage.getItem(kept) ?? undefined
  storage.removeItem(kept)
  return token
}
