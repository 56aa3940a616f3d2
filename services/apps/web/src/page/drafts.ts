import type { Typed } from './input-values.js'

/** Unsaved input of a user on a page. */
export interface PageDraft {
  typed: Readonly<Record<string, Typed>>
  /** For each changed form: its original values, and the version of its record at that time. */
  begun: Readonly<Record<string, Begun>>
}
export interface Begun {
  values: Readonly<Record<string, unknown>>
  version: unknown
}

interface Kept {
  pages: Readonly<Record<string, PageDraft>>
  /** Idempotency keys by request, for requests whose outcome is unknown. */
  keys: Readonly<Record<string, string>>
}

export interface Drafts {
  /** `name` identifies the page and its user. */
  page(name: string): PageDraft | undefined
  keep(name: string, draft: PageDraft): void
  drop(name: string): void
  /** The `Idempotency-Key` of an action: unchanged until `settle`, however often the button is pressed. */
  keyOf(request: string): string
  settle(request: string): void
  clear(): void
}

/** Storage key. Contains a version: a different shape needs a new name. */
const place = 'opsplane.drafts.1'

/**
 * Drafts survive a reload, a login and a deployment, and end with the tab. If the browser cannot store them (a frame
 * of another site, a full storage), they are kept in memory only.
 */
export function createDrafts(storage: Storage | undefined, randomKey: () => string): Drafts {
  let kept = read(storage)
  const change = (changed: Partial<Kept>) => {
    kept = { ...kept, ...changed }
    try {
      storage?.setItem(place, JSON.stringify(kept))
    } catch {
      // The draft does not fit, so the stored one is now older than the one in memory.
      storage?.removeItem(place)
    }
  }
  return {
    page: (name) => kept.pages[name],
    keep: (name, draft) => change({ pages: { ...kept.pages, [name]: draft } }),
    drop: (name) => {
      if (kept.pages[name]) change({ pages: without(kept.pages, name) })
    },
    keyOf(request) {
      const known = kept.keys[request]
      if (known !== undefined) return known
      const key = randomKey()
      change({ keys: { ...kept.keys, [request]: key } })
      return key
    },
    settle: (request) => change({ keys: without(kept.keys, request) }),
    clear: () => change({ pages: {}, keys: {} }),
  }
}

function read(storage: Storage | undefined): Kept {
  const text = storage?.getItem(place)
  return text ? (JSON.parse(text) as Kept) : { pages: {}, keys: {} }
}

const without = <Value>(all: Readonly<Record<string, Value>>, name: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(all).filter(([each]) => each !== name))
