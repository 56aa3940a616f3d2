/** What stands behind the `#`, which no server is sent. It leaves the address, and with it the history of the browser. */
export function tokenFrom(
  { hash, pathname, search }: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
): string | undefined {
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? undefined
  if (token !== undefined) history.replaceState(null, '', `${pathname}${search}`)
  return token
}

const kept = 'opsplane-address-token'

/** Keeps the token of the address over a sign-in that comes first: an address to come back to has none. */
export function keepToken(storage: Pick<Storage, 'setItem'>, ...given: Parameters<typeof tokenFrom>): void {
  const token = tokenFrom(...given)
  if (token !== undefined) storage.setItem(kept, token)
}

export function consumeKeptToken(storage: Pick<Storage, 'getItem' | 'removeItem'>): string | undefined {
  const token = storage.getItem(kept) ?? undefined
  storage.removeItem(kept)
  return token
}
