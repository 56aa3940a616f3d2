import { referencedSecrets, type SecretRefusal } from '@opsplane/contracts'
import { createSecretFilling, type ResolveSecrets, type SecretUser } from '@opsplane/http'
import { createEchoRedaction, createRedaction } from '@opsplane/runtime'
import { CallFailure } from './call-failure.js'

/** The values of the secrets that one use of a connector refers to. */
export interface Secrets {
  /** Fills in references of the form `{{secrets.name}}`, for this host only. Throws `CallFailure`. */
  fill(text: string, host: string): Promise<string>
  /** Like `fill`, for the values of a record. */
  fillAll(texts: Readonly<Record<string, string>>, host: string): Promise<Record<string, string>>
  /** Marks a value derived from a secret, such as an access token, as secret. */
  conceal(value: string): void
  /**
   * Replaces every filled-in or concealed value with `***`; `cutOff`: the text is truncated, so a value may be
   * incomplete.
   */
  redact(text: string, cutOff?: boolean): string
  /** Like `redact`, for a response that is processed further, in which short values may be data. */
  redactEcho(text: string): string
  /** Names of the filled-in secrets whose values occur in a text. */
  namesIn(text: string): string[]
}

/** @param user - the person on whose behalf the secrets are used, and the user of the secrets */
export function createSecrets(resolve: ResolveSecrets, user: Omit<SecretUser, 'host'>): Secrets {
  const known = new Set<string>()
  const filled = new Map<string, string>()
  let [redaction, echoRedaction] = [createRedaction([]), createEchoRedaction([])]
  const conceal = (value: string) => {
    if (known.has(value)) return
    known.add(value)
    redaction = createRedaction([...known])
    echoRedaction = createEchoRedaction([...known])
  }

  const fillAll: Secrets['fillAll'] = async (texts, host) => {
    const names = Object.values(texts).flatMap(referencedSecrets)
    if (names.length === 0) return { ...texts }
    const { values, refused } = await resolve({ ...user, host }, names)
    for (const [name, reason] of Object.entries(refused)) throw refusal(name, reason)
    const secretValue = (name: string): string => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value === undefined) throw failure(`The secret ${name} does not exist.`)
      conceal(value)
      filled.set(name, value)
      return value
    }
    const fill = createSecretFilling({ secretValue, tooLong: failure })
    return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]))
  }

  return {
    fillAll,
    fill: async (text, host) => (await fillAll({ text }, host)).text ?? '',
    conceal,
    redact: (text, cutOff) => redaction(text, cutOff),
    redactEcho: (text) => echoRedaction(text),
    namesIn: (text) => [...filled].flatMap(([name, value]) => (text.includes(value) ? [name] : [])),
  }
}

const refusals: Record<SecretRefusal, string> = {
  host_not_allowed: 'may not be sent to this host; its `hosts` say where it may go',
  permission_missing: 'may not be used: the owner of the connector has no `secrets:use`',
  too_large: 'is too large to be sent with the others',
}

const refusal = (name: string, reason: SecretRefusal) => failure(`The secret ${name} ${refusals[reason]}.`)
const failure = (message: string) => new CallFailure('secret', message, { sent: false })
