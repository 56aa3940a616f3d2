const key = 'opsplane-provider-sign-out'

/** Remembers for the next page where the person signs out of their identity provider, which no address shows. */
export function rememberProviderSignOut(
  storage: Pick<Storage, 'setItem' | 'removeItem'>,
  location: string | null,
): void {
  if (location === null) storage.removeItem(key)
  else storage.setItem(key, location)
}

/** Where that is, once: it is of the sign-out that has just been. */
export function forgetProviderSignOut(storage: Pick<Storage, 'getItem' | 'removeItem'>): string | undefined {
  const location = storage.getItem(key)
  storage.removeItem(key)
  return location !== null && /^https?:\/\//.test(location) ? location : undefined
}
