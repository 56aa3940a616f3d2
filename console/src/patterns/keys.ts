import { useEffect, useRef } from 'react'

/** Actions by key, or by a sequence of two keys such as `g f`. */
export type Keys = Readonly<Record<string, () => void>>

/** Maximum time between the two keys of a sequence, in milliseconds. */
const chordMs = 1_000

/**
 * Returns a function that processes one key and returns true if an action ran. A key that completes no sequence counts
 * as a single key.
 */
export function createKeyReader(keys: () => Keys) {
  let first: { key: string; atMs: number } | undefined
  return (key: string, atMs: number): boolean => {
    const known = keys()
    const begun = first
    first = undefined
    const pair = begun !== undefined && atMs - begun.atMs <= chordMs ? `${begun.key} ${key}` : undefined
    const action = (pair !== undefined ? known[pair] : undefined) ?? known[key]
    if (action !== undefined) {
      action()
      return true
    }
    if (Object.keys(known).some((name) => name.startsWith(`${key} `))) first = { key, atMs }
    return false
  }
}

/** Handles keys while the component is mounted, no text field has the focus and no dialog is open. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const read = createKeyReader(() => current.current)
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || usesKeys(event.target))
        return
      if (read(event.key, event.timeStamp)) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** Text fields use keys as input; dialogs and menus have their own keys. */
function usesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('input, textarea, select, [role="dialog"], [role="menu"]'))
    return true
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null
}
