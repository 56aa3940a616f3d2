import { ApiFailure } from '../api.js'
import { toMessage } from '../expression/evaluate.js'
import { FollowUpError } from '../page/actions.js'
import { expressionFailed, isFirst, type Loaded } from '../page/data-cache.js'

/** Error of a part of the page; screen readers announce it when it appears. */
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

/** Shown in place of the result of a failed expression; `what` is a sentence. */
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

/** Shows the error of an action, with the details that no field shows. */
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

/** Shows a first load in progress, or its error; nothing once the data is loaded. */
export function LoadState({ loaded, onRetry }: { loaded: Loaded; onRetry: () => void }) {
  if (loaded.error?.code === expressionFailed)
    return <ExpressionFailure what="This data was not loaded." error={loaded.error.message} />
  if (loaded.error) return <Failure message={loaded.error.message} onRetry={onRetry} />
  return isFirst(loaded) ? <p className="muted loading">Loading…</p> : null
}
