import { useCallback, useEffect, useRef, useState } from 'react'
import { formatPlace, type Place, parsePlace } from '../place.js'

export type Target = Pick<Place, 'page' | 'params'>

/** Hooks called before and after a place is left. */
export interface Departure {
  hasUnsaved(): boolean
  /** Whether the user agrees to leave. */
  mayLeave(): Promise<boolean>
  onLeft(from: Place): void
}

/** The current place; follows the browser's back and forward buttons. */
export function usePlace({ hasUnsaved, mayLeave, onLeft }: Departure) {
  const [place, setPlace] = useState(() => parsePlace(location))
  const visits = useRef(0)
  const current = useRef(place)
  const arrive = useCallback(() => {
    const from = current.current
    visits.current += 1
    current.current = parsePlace(location)
    onLeft(from)
    setPlace(current.current)
  }, [onLeft])
  const goTo = useCallback(
    async (to: Target) => {
      if (hasUnsaved() && !(await mayLeave())) return
      history.pushState(null, '', formatPlace({ ...current.current, ...to }))
      arrive()
      scrollTo(0, 0)
    },
    [hasUnsaved, mayLeave, arrive],
  )
  useEffect(() => {
    const follow = () => {
      if (!hasUnsaved()) return arrive()
      const to = parsePlace(location)
      // The browser has navigated already: restore the address until the user has answered.
      history.pushState(null, '', formatPlace(current.current))
      void goTo(to)
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [hasUnsaved, arrive, goTo])
  return { place, goTo, isFirst: visits.current === 0 }
}
