import { texts } from '../texts/en.js'
import { Action } from './fields.js'

const words = texts.proof

/** Recovery codes, which are shown only once. */
export function RecoveryCodes({ codes, onKept }: { codes: readonly string[]; onKept(): void }) {
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`
  return (
    <div className="steps">
      <h2>{words.recoveryTitle}</h2>
      <p className="muted">{words.recoveryIntro}</p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
      <a className="link other-way" href={file} download="opsplane-recovery-codes.txt">
        {words.recoveryFile}
      </a>
      <Action onClick={onKept}>{words.recoveryKept}</Action>
    </div>
  )
}
