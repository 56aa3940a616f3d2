import { describeError } from '../api/failure.js'

/** Why an action failed, next to its button. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null
  const { help } = describeError(error)
  return (
    <span className="state-bad ellipsis" role="alert" title={help}>
      {help}
    </span>
  )
}
