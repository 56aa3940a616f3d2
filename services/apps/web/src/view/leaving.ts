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
  const leaveGuard = useMemo(() => {
    let shown: PageStore | undefined
    return {
      show: (store: PageStore | undefined) => {
        shown = store
      },
      hasUnsaved: () => shown?.inputs.hasUnsaved() ?? false,
    }
  }, [])
  useEffect(() => {
    const confirmUnload = (event: BeforeUnloadEvent) => {
      if (leaveGuard.hasUnsaved()) event.preventDefault()
    }
    addEventListener('beforeunload', confirmUnload)
    return () => removeEventListener('beforeunload', confirmUnload)
  }, [leaveGuard])
  return leaveGuard
}

/** Registers the unsaved input of this page with `useLeaving`. */
export function useUnsaved(store: PageStore): void {
  const leaveGuard = useContext(Context)
  useEffect(() => {
    leaveGuard?.show(store)
    return () => leaveGuard?.show(undefined)
  }, [leaveGuard, store])
}
