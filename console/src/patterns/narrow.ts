import { useCallback, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** Row heights in px; the style sheet has the same values. */
export const rowHeights = { wide: 32, narrow: 52 } as const
/** Below this list width in px, a row has two lines. */
const narrowWidth = 760

/**
 * Whether the list is so narrow that rows have two lines. Changes before the frame with the new width is painted, and
 * keeps the top row in place. `observe` is the ref of the list element, which is rendered with the first rows.
 */
export function useNarrow(scroll: { current: HTMLElement | null }) {
  const [isNarrow, setNarrow] = useState(false)
  const shown = useRef(isNarrow)
  const observe = useCallback(
    (list: HTMLElement | null) => {
      if (list === null) return
      const change = (isNarrowNow: boolean) => {
        shown.current = isNarrowNow
        setNarrow(isNarrowNow)
      }
      change(isNarrowWidth(list))
      const observer = new ResizeObserver(() => {
        const isNarrowNow = isNarrowWidth(list)
        if (isNarrowNow === shown.current) return
        const top = scroll.current?.scrollTop ?? 0
        flushSync(() => change(isNarrowNow))
        if (top > 0) scrollTo(scroll.current, isNarrowNow ? top * growth : top / growth)
      })
      observer.observe(list)
      return () => observer.disconnect()
    },
    [scroll],
  )
  return { isNarrow, observe }
}

const growth = rowHeights.narrow / rowHeights.wide
const isNarrowWidth = (list: HTMLElement): boolean => list.getBoundingClientRect().width < narrowWidth

function scrollTo(element: HTMLElement | null, top: number): void {
  if (element === null) return
  element.scrollTop = top
  // Otherwise scroll listeners would learn the visible rows only in the next frame.
  element.dispatchEvent(new Event('scroll'))
}
