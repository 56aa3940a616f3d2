import { OpsplaneError } from '@opsplane/client'
import { describeError, fieldErrors } from '../api/failure.js'
import { texts } from '../texts/en.js'
import { PasskeyUnused } from './webauthn.js'

interface RefusalProps {
  error: unknown
  /** Texts for some error codes, which say what to do. */
  words?: Readonly<Record<string, string>>
}

/** The reason of a refusal: one sentence if the remedy is known, otherwise with the request id that operators search by. */
export function Refusal({ error, words = {} }: RefusalProps) {
  if (error === undefined || error === null || Object.keys(fieldErrors(error)).length > 0) return null
  const known = knownWords(error, words)
  if (known !== undefined)
    return (
      <p className="state-bad" role="alert">
        {known}
      </p>
    )
  const { title, help, requestId } = describeError(error)
  return (
    <div className="problem" role="alert">
      <div>
        <strong>{error instanceof OpsplaneError && error.status < 500 ? help : title}</strong>
        {error instanceof OpsplaneError && error.status < 500 ? null : <p className="muted">{help}</p>}
        {requestId !== undefined && <code className="small muted">{requestId}</code>}
      </div>
    </div>
  )
}

function knownWords(error: unknown, words: Readonly<Record<string, string>>): string | undefined {
  if (error instanceof PasskeyUnused) return words.passkey_unused ?? texts.proof.passkeyOff
  if (!(error instanceof OpsplaneError)) return undefined
  // The code of a detail is more specific than the code of the error.
  const codes = [...error.details.map(({ code }) => code), error.code ?? '']
  return codes.map((code) => words[code]).find((text) => text !== undefined)
}
