import { type ComponentProps, type ReactNode, useEffect } from 'react'
import { AnswerByFactor } from '../../proof/factor-answer.js'
import { Mark } from '../../shell/logo.js'
import { texts } from '../../texts/en.js'

/** Prompts for the second factor of a sign-in. */
export function ChallengeFrame({
  children,
  ...answering
}: ComponentProps<typeof AnswerByFactor> & { children?: ReactNode }) {
  return (
    <SignInFrame title={texts.proof.challengeTitle}>
      <AnswerByFactor {...answering} />
      {children}
    </SignInFrame>
  )
}

/** Frame of all pages before the sign-in. */
export function SignInFrame({
  title,
  help,
  children,
}: {
  title: string
  help?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`
  }, [title])
  return (
    <main className="sign-in">
      <div className="sign-in-form steps">
        <Mark size={32} />
        <h1>{title}</h1>
        {help && <p className="muted">{help}</p>}
        {children}
      </div>
    </main>
  )
}
