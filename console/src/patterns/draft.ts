import { useState } from 'react'

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const prefix = 'opsplane-draft'
const keyOf = (path: string, name: string) => `${prefix}:${path}:${name}`

/** Reads the saved draft of a form. Fields that no longer exist are dropped; new fields have their initial value. */
export function readDraft<Value extends object>(storage: Kept, key: string, initial: Value): Value {
  try {
    const draft: unknown = JSON.parse(storage.getItem(key) ?? '{}')
    const validFields = Object.entries(draft ?? {}).filter(
      ([name, value]) => name in initial && typeof value === typeof initial[name as keyof Value],
    )
    return { ...initial, ...Object.fromEntries(validFields) }
  } catch {
    return initial
  }
}

/**
 * Form input that survives a reload and the end of the session until it is sent. Not for secrets, which stay in their
 * fields only. Returns the value, a function to change it, and a function to reset it.
 */
export function useDraft<Value extends object>(name: string, initial: Value) {
  const [key] = useState(() => keyOf(location.pathname, name))
  const [value, setValue] = useState(() => readDraft(sessionStorage, key, initial))
  const change = (changed: Partial<Value>) => {
    const next = { ...value, ...changed }
    sessionStorage.setItem(key, JSON.stringify(next))
    setValue(next)
  }
  const clear = () => {
    sessionStorage.removeItem(key)
    setValue(initial)
  }
  return [value, change, clear] as const
}
