/** The credentials of the browser; never in a cookie or an address. */
export interface Session {
  token(): string | undefined
  isEmbedded: boolean
  enter(token: string): void
  leave(): void
}

const key = 'opsplane.session'

/** A person's session, kept until the tab is closed. */
export function personSession(storage: Storage): Session {
  return {
    token: () => storage.getItem(key) ?? undefined,
    isEmbedded: false,
    enter: (token) => storage.setItem(key, token),
    leave: () => storage.removeItem(key),
  }
}

/** The token of an embedding page; in memory only, because a frame of another site may have no storage. */
export function embedSession(token: string | undefined): Session {
  return { token: () => token, isEmbedded: true, enter: () => {}, leave: () => {} }
}
