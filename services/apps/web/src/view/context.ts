import type { AppAction } from '@opsplane/contracts'
import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { isOutdated } from '../api.js'
import { evaluate, toMessage } from '../expression/evaluate.js'
import type { ExpressionScope } from '../expression/scope.js'
import { type ActionContext, type ActionHost, perform } from '../page/actions.js'
import type { PageStore } from '../page/store.js'

export interface PageContext {
  store: PageStore
  host: ActionHost
}

const Context = createContext<PageContext | undefined>(undefined)
export const PageProvider = Context.Provider

/** The page a component is part of. The component re-renders with every change of the page's state. */
export function usePage(): PageContext {
  const context = useContext(Context)
  if (!context) throw new Error('a component is outside of a page')
  const { store } = context
  useSyncExternalStore(store.subscribe, () => store.scope)
  return context
}

export type Shown = { value: unknown; error?: undefined } | { value?: undefined; error: string }

/** The value of a template. While JSONata computes a new value, the previous one is returned, initially `undefined`. */
export function useValue(template: unknown, scope: ExpressionScope): Shown {
  const [later, setLater] = useState<Shown>({ value: undefined })
  const result = useMemo(() => attempt(template, scope), [template, scope])
  useEffect(() => {
    if (!('later' in result)) return
    let isCurrent = true
    const show = (shown: Shown) => {
      if (isCurrent) setLater(shown)
    }
    result.later.then(
      (value) => show({ value }),
      (error: unknown) => show({ error: toMessage(error) }),
    )
    return () => {
      isCurrent = false
    }
  }, [result])
  return 'later' in result ? later : result
}

function attempt(template: unknown, scope: ExpressionScope): Shown | { later: Promise<unknown> } {
  try {
    const result = evaluate(template, scope)
    if ('now' in result) return { value: result.now }
    // The rejection is shown by `useValue`, unless a newer evaluation has replaced it by then.
    result.later.catch(() => {})
    return result
  } catch (error) {
    return { error: toMessage(error) }
  }
}

/** Runs one action at a time; the error of the last run stays until the next one starts. */
export function useAction(action: AppAction | undefined) {
  const page = usePage()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const run = async (context: ActionContext): Promise<boolean> => {
    if (isBusy || action === undefined) return false
    setBusy(true)
    setError(undefined)
    try {
      return await perform(action, context, page)
    } catch (thrown) {
      // Reloads the current state of the record.
      if (isOutdated(thrown)) await page.store.refreshNamed(action)
      setError(thrown)
      return false
    } finally {
      setBusy(false)
    }
  }
  return { run, isBusy, error, forget: () => setError(undefined) }
}
