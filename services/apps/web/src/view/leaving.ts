import { createContext, useContext, useEffect, useMemo } from 'react'
import type { PageStore } from '../page/store.js'

/** Tracks whether leaving the current page would lose unsaved input. */
interface Leaving {
  show(store: PageStore | undefined): void
  hasUnsaved(): boolean
}

const Context = createContext<Leaving | undefined>(undefined)
export const LeavingProvider = Context.Provider

/** Makes the browser ask before it closes the tab while the current page has unsaved input. */
export function useLeaving(): Leaving {
  const leaving = useMemo(() => {
    let shown: PageStore | undefined
    return {
      show: (store: PageStore | undefined) => {
        shown = store
      },
      hasUnsaved: () => shown?.inputs.hasUnsaved() ?? false,
    }
  }, [])
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (leaving.hasUnsaved()) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [leaving])
  return leaving
}

/** Registers the unsaved input of this page with `useLeaving`. */
export function useUnsaved(store: PageStore): void {
  const leaving = useContext(Context)
  useEffect(() => {
    leaving?.show(store)
    return () => leaving?.show(undefined)
  }, [leaving, store])
}
