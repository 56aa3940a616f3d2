import { type LinkProps, useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useKeys } from './keys.js'

export interface SelectionOptions<Item> {
  items: readonly (Item | undefined)[]
  keyOf(item: Item): string
  linkOf(item: Item): LinkProps
  /** Key of the row whose detail is open. */
  selected: string | undefined
  closed: LinkProps
  /** Scrolls a row into view. */
  show(index: number): void
}

/**
 * The selected row, by pointer or keyboard: j and k move the open detail, or a marker if none is open; Enter opens the
 * marked row. The row is highlighted in the next frame and its detail opens afterwards, so that a key has an immediate
 * effect and rows passed quickly are not opened.
 */
export function useSelection<Item>(options: SelectionOptions<Item>) {
  const { items, keyOf, linkOf, selected, closed, show } = options
  const [cursor, setCursor] = useState<string>()
  // The selected row, until the URL contains it.
  const [chosen, setChosen] = useState<{ key: string | undefined; from: string | undefined }>()
  const isAwaited = chosen !== undefined && chosen.from === selected
  if (chosen !== undefined && !isAwaited) setChosen(undefined)
  const shown = isAwaited ? chosen.key : selected
  const navigate = useNavigate()
  const pending = useRef<() => void>(undefined)
  useEffect(() => () => pending.current?.(), [])
  const go = (key: string | undefined, link: LinkProps) => {
    pending.current?.()
    setChosen({ key, from: selected })
    pending.current = afterPaint(() => void navigate(link))
  }
  const at = shown ?? cursor
  const move = (by: 1 | -1) => {
    const present = items.findIndex((item) => item !== undefined && keyOf(item) === at)
    const index = present === -1 ? 0 : Math.min(Math.max(present + by, 0), items.length - 1)
    const item = items[index]
    if (item === undefined) return
    show(index)
    setCursor(keyOf(item))
    if (shown !== undefined) go(keyOf(item), { ...linkOf(item), replace: selected !== undefined })
  }
  const openMarked = () => {
    const item = items.find((each) => each !== undefined && keyOf(each) === cursor)
    if (item !== undefined) go(keyOf(item), linkOf(item))
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(cursor !== undefined && shown === undefined && { Enter: openMarked }),
    ...(shown !== undefined && { [closing]: () => go(undefined, closed) }),
  })
  const current = useRef(go)
  current.current = go
  const open = useCallback((key: string, link: LinkProps) => current.current(key, link), [])
  return {
    shown,
    cursor: shown === undefined ? cursor : undefined,
    open: (item: Item) => open(keyOf(item), linkOf(item)),
  }
}

const closing = 'Escape'

/** Calls `call` after the next frame is painted; returns a function that cancels the call. */
function afterPaint(call: () => void): () => void {
  // A hidden page paints no frames.
  if (document.hidden) {
    call()
    return () => undefined
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(call)
  })
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
