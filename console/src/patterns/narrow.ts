import { useCallback, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** As the style sheet has them, by the same width. */
export const rowHeights = { wide: 32, narrow: 52 } as const
/** Below it a row has two lines. */
const narrowWidth = 760

/**
 * Whether there is room for two lines a row only. It changes before the frame in which the list has another width is painted,
 * and the row at the top stays there. `observe` is the ref of the list, which comes with the first rows.
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
  // Who knows which rows are in sight would learn it in the next frame only.
  element.dispatchEvent(new Event('scroll'))
}
