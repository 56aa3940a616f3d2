import { Dialog, DialogDismiss, DialogHeading } from '@ariakit/react'

export interface Question {
  text: string
  answer(agreed: boolean): void
}

/** Modal dialog that asks for confirmation. It traps the focus and restores it on close. */
export function ConfirmDialog({ question }: { question: Question | undefined }) {
  return (
    <Dialog
      open={question !== undefined}
      onClose={() => question?.answer(false)}
      className="dialog"
      backdrop={<div className="backdrop" />}
    >
      <DialogHeading>{question?.text}</DialogHeading>
      <div className="stack row">
        <button type="button" className="primary" onClick={() => question?.answer(true)}>
          Yes
        </button>
        <DialogDismiss className="secondary">Cancel</DialogDismiss>
      </div>
    </Dialog>
  )
}
