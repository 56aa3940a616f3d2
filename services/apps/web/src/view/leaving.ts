import { createContext, useContext, useEffect, useMemo } from 'react'
import type { PageStore } from '../page/store.js'

/** The page that is shown, as far as leaving it would lose something. */
interface Leaving {
  show(store: PageStore | undefined): void
  hasUnsaved(): boolean
}

const Context = createContext<Leaving | undefined>(undefined)
export const LeavingProvider = Context.Provider

/** Asks before the tab is closed while there is something unsaved in the page that is shown. */
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

/** Says that what is unsaved in this page is asked about. */
export function useUnsaved(store: PageStore): void {
  const leaving = useContext(Context)
  useEffect(() => {
    leaving?.show(store)
    return () => leaving?.show(undefined)
  }, [leaving, store])
}
