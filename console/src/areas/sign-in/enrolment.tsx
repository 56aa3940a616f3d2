import { type components, OpsplaneError } from '@opsplane/client'
import { useEffect, useState } from 'react'
import { createApi, provingApi } from '../../api/api.js'
import { needsSignIn } from '../../api/failure.js'
import { enrolmentAddress, signInAddress } from '../../place/session.js'
import { AddFactor } from '../../proof/add-factor.js'
import { Action, OtherWay } from '../../proof/fields.js'
import { Proof } from '../../proof/proof.js'
import { Refusal } from '../../proof/refusal.js'
import { StepUp } from '../../proof/step-up.js'
import { texts } from '../../texts/en.js'
import { SignInFrame } from './frame.js'

type Factors = components['schemas']['Factors']
const words = texts.signIn.enrolment

/** Shown if the workspace requires a second factor: the person adds one or uses an existing one, and is then signed in. */
export function Enrolment({ to }: { to: string }) {
  const [factors, setFactors] = useState<Factors>()
  const [error, setError] = useState<unknown>()
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    const read = async () => {
      try {
        setFactors((await provingApi().get('/auth/factors')).data)
      } catch (failure) {
        if (needsSignIn(failure)) return location.replace(signInAddress(enrolmentAddress(to), false))
        setError(failure)
      }
    }
    void read()
  }, [to])
  const goOn = () => location.assign(to)
  const leave = async () => {
    await createApi()
      .post('/auth/logout')
      .catch((failure: unknown) => {
        if (!(failure instanceof OpsplaneError)) throw failure
      })
    location.assign('/sign-in')
  }
  if (factors === undefined && error === undefined) return null
  if (isReady)
    return (
      <SignInFrame title={words.ready}>
        <Action onClick={goOn} hasFocus>
          {words.goOn}
        </Action>
      </SignInFrame>
    )
  const isProving = factors !== undefined && factors.factors.length > 0
  return (
    <SignInFrame
      title={isProving ? words.prove : words.title}
      help={isProving ? words.proveHelp : words.help}
    >
      <Refusal error={error} />
      {isProving && <StepUp onDone={goOn} />}
      {factors !== undefined && !isProving && (
        <AddFactor passkeys={factors.passkeys.available} onDone={() => setReady(true)} />
      )}
      <OtherWay onClick={() => void leave()}>{words.leave}</OtherWay>
      <Proof person={undefined} />
    </SignInFrame>
  )
}
