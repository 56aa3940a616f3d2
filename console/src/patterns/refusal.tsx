import { describeError } from '../api/failure.js'

/** The reason of a failed action, next to its button. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null
  const { help } = describeError(error)
  return (
    <span className="state-bad ellipsis" role="alert" title={help}>
      {help}
    </span>
  )
}
