import type { components } from '@opsplane/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { createApi } from '../api/api.js'
import { fieldErrors } from '../api/failure.js'
import { texts } from '../texts/en.js'
import { Action, Field, TotpField } from './fields.js'
import { QrCode } from './qr.js'
import { RecoveryCodes } from './recovery-codes.js'
import { Refusal } from './refusal.js'
import { createPasskey, hasPasskeys } from './webauthn.js'

type Enrolment = components['schemas']['TotpEnrolment']
export type FactorKind = 'totp' | 'passkey'
const words = texts.proof

interface AddFactorProps {
  /** The kind of factor; the person chooses if it is not given. */
  kind?: FactorKind
  /** Whether the installation supports passkeys. */
  passkeys: boolean
  /** Whether recovery codes already exist; if so, none are created. */
  hasCodes?: boolean
  onDone(): void
}

/** Adds a second factor to the login, and creates recovery codes with the first one. */
export function AddFactor({ kind, passkeys, hasCodes = false, onDone }: AddFactorProps) {
  const [chosen, setChosen] = useState(kind)
  const [codes, setCodes] = useState<string[]>()
  const [error, setError] = useState<unknown>()
  const added = async () => {
    if (hasCodes) return onDone()
    try {
      setCodes((await createApi().post('/auth/recovery-codes')).data.codes)
    } catch (failure) {
      setError(failure)
    }
  }
  if (codes !== undefined) return <RecoveryCodes codes={codes} onKept={onDone} />
  if (error !== undefined)
    return (
      <div className="steps">
        <Refusal error={error} />
        <Action onClick={onDone}>{texts.signIn.enrolment.goOn}</Action>
      </div>
    )
  if (chosen === 'totp') return <AddTotp onAdded={() => void added()} />
  if (chosen === 'passkey') return <AddPasskey onAdded={() => void added()} />
  return (
    <div className="steps">
      <button
        type="button"
        className="way"
        disabled={!passkeys || !hasPasskeys()}
        onClick={() => setChosen('passkey')}
      >
        <strong>{words.addPasskey}</strong>
        <span className="muted">{passkeys && hasPasskeys() ? words.addPasskeyHelp : words.noPasskeys}</span>
      </button>
      <button type="button" className="way" onClick={() => setChosen('totp')}>
        <strong>{words.addTotp}</strong>
        <span className="muted">{words.addTotpHelp}</span>
      </button>
    </div>
  )
}

function AddTotp({ onAdded }: { onAdded(): void }) {
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const isBegun = useRef(false)
  useEffect(() => {
    // Each start invalidates the previous one.
    if (isBegun.current) return
    isBegun.current = true
    createApi()
      .post('/auth/factors/totp', { body: { name: words.phone } })
      .then(({ data }) => setEnrolment(data), setError)
  }, [])
  if (enrolment === undefined) return <Refusal error={error} />
  const confirm = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const code = String(new FormData(event.currentTarget).get('code'))
    setBusy(true)
    setError(undefined)
    try {
      await createApi().post('/auth/factors/totp/confirm', { body: { id: enrolment.id, code } })
      onAdded()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const wrong = fieldErrors(error).code
  return (
    <form ref={form} className="steps" onSubmit={confirm}>
      <p className="muted">{words.scan}</p>
      <QrCode text={enrolment.uri} />
      <p className="small muted">{words.secret}</p>
      <code className="secret-key">{enrolment.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
      <TotpField
        label={words.code}
        name="code"
        error={wrong && words.wrongCode}
        onComplete={() => form.current?.requestSubmit()}
      />
      <Refusal error={error} />
      <Action isBusy={isBusy}>{words.add}</Action>
    </form>
  )
}

function AddPasskey({ onAdded }: { onAdded(): void }) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name'))
    setBusy(true)
    setError(undefined)
    try {
      const { data } = await createApi().post('/auth/factors/passkeys/options')
      const credential = await createPasskey(data.publicKey)
      await createApi().post('/auth/factors/passkeys', {
        body: { challenge: data.challenge, name, credential },
      })
      onAdded()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <form className="steps" onSubmit={add}>
      <p className="muted">{words.addPasskeyHelp}</p>
      <Field label={words.factorName} name="name" defaultValue={words.device} maxLength={100} required />
      <Refusal error={error} words={{ passkey_unused: words.passkeyFailed }} />
      <Action isBusy={isBusy}>{words.add}</Action>
    </form>
  )
}
