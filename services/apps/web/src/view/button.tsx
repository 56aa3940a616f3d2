import type { AppAction } from '@opsplane/contracts'
import { useAction } from './context.js'
import { ActionFailure } from './failure.js'
import type { ComponentOf } from './kinds.js'

export function ButtonView({ component: { label, action, style } }: { component: ComponentOf<'button'> }) {
  const { run, isBusy, error } = useAction(action as AppAction)
  return (
    <div className="action">
      <button type="button" className={style} aria-disabled={isBusy} onClick={() => void run({})}>
        {isBusy ? `${label}…` : label}
      </button>
      <ActionFailure error={error} />
    </div>
  )
}
