import { ApiFailure } from '../api.js'
import { toMessage } from '../expression/evaluate.js'
import { FollowUpError } from '../page/actions.js'
import { expressionFailed, isFirst, type Loaded } from '../page/data-cache.js'

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

/** Stands in place of what an expression of the app would have said; `what` is a sentence. */
export function ExpressionFailure({ what, error }: { what: string; error: string }) {
  return (
    <div className="failure" role="alert">
      <span>
        {what} This is an error in the app: please report it to the people who manage it.
        <code>{error}</code>
      </span>
    </div>
  )
}

/** Replaces a component whose visibility is unknown. */
export const NotShown = ({ error }: { error: string }) => (
  <ExpressionFailure what="This part of the page cannot be shown." error={error} />
)

/** The details of a refused request that no field shows. */
export function ActionFailure({ error, except = [] }: { error: unknown; except?: readonly string[] }) {
  if (error === undefined) return null
  if (error instanceof FollowUpError) return <Failure message={error.message} />
  if (!(error instanceof ApiFailure))
    return (
      <ExpressionFailure what="The action was stopped before it changed anything." error={toMessage(error)} />
    )
  const others = error.details.filter(
    ({ path, message }) => !except.includes(path) && !error.message.includes(message),
  )
  return <Failure message={[error.message, ...others.map(({ message }) => message)].join(' ')} />
}

/** While something is loaded for the first time, and where it could not be; nothing once it is there. */
export function LoadState({ loaded, onRetry }: { loaded: Loaded; onRetry: () => void }) {
  if (loaded.error?.code === expressionFailed)
    return <ExpressionFailure what="This data was not loaded." error={loaded.error.message} />
  if (loaded.error) return <Failure message={loaded.error.message} onRetry={onRetry} />
  return isFirst(loaded) ? <p className="muted loading">Loading…</p> : null
}
