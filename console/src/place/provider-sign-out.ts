const key = 'opsplane-provider-sign-out'

/** Stores the sign-out address of the person's identity provider for the next page; it is not put into the URL. */
export function rememberProviderSignOut(
  storage: Pick<Storage, 'setItem' | 'removeItem'>,
  location: string | null,
): void {
  if (location === null) storage.removeItem(key)
  else storage.setItem(key, location)
}

/** Returns and deletes the stored address, because it belongs to the last sign-out only. */
export function forgetProviderSignOut(storage: Pick<Storage, 'getItem' | 'removeItem'>): string | undefined {
  const location = storage.getItem(key)
  storage.removeItem(key)
  return location !== null && /^https?:\/\//.test(location) ? location : undefined
}
