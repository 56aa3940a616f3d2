import { ApiFailure } from '../api.js'
import type { Loaded } from '../page/data-cache.js'
import { messageOf } from './context.js'

/** What went wrong with a part of the page; read out by screen readers when it comes. */
export function Failure({ message, onRetry }: { message: string; onRetry?: () => void }) {
  return (
    <div className="failure" role="alert">
      <span>{message}</span>
      {onRetry && (
        <button type="button" className="plain" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** The details of a refused request that no field shows. */
export function ActionFailure({ error, except = [] }: { error: unknown; except?: readonly string[] }) {
  if (error === undefined) return null
  const details = error instanceof ApiFailure ? error.details : []
  const others = details.filter(({ path }) => !except.includes(path))
  return <Failure message={[messageOf(error), ...others.map(({ message }) => message)].join(' ')} />
}

/** While something is loaded for the first time, and where it could not be; nothing once it is there. */
export function LoadState({ loaded, onRetry }: { loaded: Loaded; onRetry: () => void }) {
  if (loaded.error) return <Failure message={loaded.error.message} onRetry={onRetry} />
  const isFirst = loaded.isLoading && loaded.rows.length === 0 && loaded.value === null
  return isFirst ? <p className="muted loading">Loading…</p> : null
}
