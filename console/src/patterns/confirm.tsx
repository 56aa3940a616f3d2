import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { texts } from '../texts/en.js'

interface ConfirmProps {
  /** The action, as a verb. */
  label: string
  /** Names the object and the consequences. */
  question: ReactNode
  /** The action can be undone, but its effect must be known beforehand. */
  isHarmless?: boolean
  isBusy?: boolean
  onConfirm(): void
}

/** Asks for confirmation of an irreversible action, in place. */
export function Confirm({ label, question, isHarmless = false, isBusy = false, onConfirm }: ConfirmProps) {
  const [isAsked, setAsked] = useState(false)
  if (!isAsked)
    return (
      <Button size="xs" variant="default" loading={isBusy} onClick={() => setAsked(true)}>
        {label}
      </Button>
    )
  const confirm = () => {
    setAsked(false)
    onConfirm()
  }
  return (
    <span className="confirm" role="alertdialog" aria-label={label}>
      <span>{question}</span>
      <span className="row">
        <Button size="xs" {...(!isHarmless && { color: 'red', className: 'danger' })} onClick={confirm}>
          {label}
        </Button>
        <Button size="xs" variant="default" onClick={() => setAsked(false)} autoFocus>
          {isHarmless ? texts.common.cancel : texts.common.keep}
        </Button>
      </span>
    </span>
  )
}
