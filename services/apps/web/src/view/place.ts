import { useCallback, useEffect, useRef, useState } from 'react'
import { formatPlace, type Place, parsePlace } from '../place.js'

export type Target = Pick<Place, 'page' | 'params'>

/** What is asked before a place is left. */
export interface Departure {
  hasUnsaved(): boolean
  /** Whether it may be left all the same. */
  mayLeave(): Promise<boolean>
  onLeft(from: Place): void
}

/** Where the browser is, which its buttons change as well. */
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
      // The browser has navigated already: it is back here until the user has answered.
      history.pushState(null, '', formatPlace(current.current))
      void goTo(to)
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [hasUnsaved, arrive, goTo])
  return { place, goTo, isFirst: visits.current === 0 }
}
