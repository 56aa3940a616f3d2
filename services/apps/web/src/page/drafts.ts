import type { Typed } from './input-values.js'

/** What a user has typed in a page and not saved. */
export interface PageDraft {
  typed: Readonly<Record<string, Typed>>
  /** Of each form that was changed: the values it began with, and the version that its record had then. */
  begun: Readonly<Record<string, Begun>>
}
export interface Begun {
  values: Readonly<Record<string, unknown>>
  version: unknown
}

interface Kept {
  pages: Readonly<Record<string, PageDraft>>
  /** Idempotency keys, by the request whose outcome is unknown. */
  keys: Readonly<Record<string, string>>
}

export interface Drafts {
  /** By the page and whose it is. */
  page(name: string): PageDraft | undefined
  keep(name: string, draft: PageDraft): void
  drop(name: string): void
  /** The Idempotency-Key of an action: the same one until `settle`, however often the button is pressed. */
  keyOf(request: string): string
  settle(request: string): void
  clear(): void
}

/** Of this shape: another one has another name. */
const place = 'opsplane.drafts.1'

/**
 * Survives a reload, a login and a deployment, and ends with the tab. Where the browser keeps nothing (a frame of another
 * site, a full store) it is in memory alone.
 */
export function createDrafts(storage: Storage | undefined, randomKey: () => string): Drafts {
  let kept = read(storage)
  const change = (changed: Partial<Kept>) => {
    kept = { ...kept, ...changed }
    try {
      storage?.setItem(place, JSON.stringify(kept))
    } catch {
      // What no longer fits is older than what is in memory.
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
