import { failureOf } from '../api/failure.js'

/** Why something that was pressed did not happen, beside what was pressed. */
export function Refusal({ error }: { error: unknown }) {
  if (!error) return null
  const { help } = failureOf(error)
  return (
    <span className="state-bad ellipsis" role="alert" title={help}>
      {help}
    </span>
  )
}
