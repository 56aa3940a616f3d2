import { useEffect, useRef, useState } from 'react'
import { type Lacking, proveBy } from '../api/proving.js'
import { signInAddress } from '../place/session.js'
import { texts } from '../texts/en.js'
import { OtherWay } from './fields.js'
import { type Person, SignInAgain } from './sign-in-again.js'
import { StepUp } from './step-up.js'

const words = texts.proof

interface ProofProps {
  person: Person | undefined
  /** Called when a new session replaces one that had ended. */
  onSignedIn?(): void
}

interface PendingProof {
  lacking: Lacking
  settle(isProved: boolean): void
}

/**
 * Prompts for what a request of any page lacks: a recent proof of identity, or a session if it has ended. The request then
 * continues. `person` is the signed-in person; without it, the end of a session leads to the sign-in page.
 */
export function Proof({ person, onSignedIn }: ProofProps) {
  const [asked, setAsked] = useState<PendingProof>()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => proveBy((lacking) => new Promise((resolve) => setAsked({ lacking, settle: resolve }))), [])
  useEffect(() => {
    if (asked !== undefined && dialog.current?.open === false) dialog.current.showModal()
  }, [asked])
  if (asked === undefined) return null
  const settle = (isProved: boolean) => {
    dialog.current?.close()
    setAsked(undefined)
    asked.settle(isProved)
  }
  const signedIn = () => {
    settle(true)
    onSignedIn?.()
  }
  const signedOut = () => setAsked({ ...asked, lacking: 'session' })
  const hasEnded = asked.lacking === 'session'
  const leave = () => location.assign(signInAddress(`${location.pathname}${location.search}`, true))
  return (
    <dialog
      ref={dialog}
      className="proof"
      aria-modal="true"
      aria-labelledby="proof-title"
      onCancel={(event) => {
        event.preventDefault()
        // Without a session no request can continue, so the dialog cannot be cancelled.
        if (!hasEnded) settle(false)
      }}
    >
      <div className="steps">
        <h2 id="proof-title">{hasEnded ? words.sessionTitle : words.title}</h2>
        <p className="muted">{hasEnded ? words.sessionHelp : words.help}</p>
        {hasEnded && person !== undefined && <SignInAgain person={person} onDone={signedIn} />}
        {hasEnded && person === undefined && <OtherWay onClick={leave}>{words.elsewhere}</OtherWay>}
        {!hasEnded && <StepUp onDone={() => settle(true)} onSignedOut={signedOut} />}
        {!hasEnded && <OtherWay onClick={leave}>{words.elsewhere}</OtherWay>}
        {!hasEnded && <OtherWay onClick={() => settle(false)}>{words.cancel}</OtherWay>}
      </div>
    </dialog>
  )
}
