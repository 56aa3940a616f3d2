/** What stands behind the `#`, which no server is sent. It leaves the address, and with it the history of the browser. */
export function tokenFrom(
  { hash, pathname, search }: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
): string | undefined {
  const token = new URLSearchParams(hash.slice(1)).get('token') ?? undefined
  if (token !== undefined) history.replaceState(null, '', `${pathname}${search}`)
  return token
}
