import { maxSecretsLength, referencedSecrets, secretReference } from '@opsplane/contracts'

/**
 * Maximum characters all inserted secrets add to one request, counting repeated
 * references: four times `maxSecretsLength`.
 */
const maxFilledLength = 4 * maxSecretsLength

/** Replaces references to secrets in a text by their values, each transformed by `encode`. */
export type FillSecrets = (text: string, encode?: (value: string) => string) => string

/** Characters not allowed in header values: line breaks, other control characters, and anything outside Latin-1. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Why headers with references to these secrets cannot be sent, naming the header
 * and the secret; `undefined` if they can.
 */
export function headerFault(
  headers: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): string | undefined {
  const reason = 'a line break, or another character that no header may have'
  for (const [name, text] of Object.entries(headers)) {
    const secret = referencedSecrets(text).find((each) => unsendable.test(secrets[each] ?? ''))
    if (secret !== undefined)
      return `The secret ${secret} cannot be sent in the header ${name}: its value has ${reason}. Store it without.`
    if (unsendable.test(text)) return `The header ${name} cannot be sent: it has ${reason}.`
  }
  return undefined
}

interface SecretFillingOptions {
  /** Throws if there is no such secret. */
  secretValue(name: string): string
  /** Creates the error to throw if the texts would become too long. */
  tooLong(message: string): Error
}

/**
 * Inserts secrets into the texts of one request. Sums up their length before building any text: a text of 1 MiB can
 * contain 80,000 references to a value of 64 KiB.
 */
export function createSecretFilling({ secretValue, tooLong }: SecretFillingOptions): FillSecrets {
  let left = maxFilledLength
  return (text, encode = (value) => value) => {
    const names = referencedSecrets(text)
    const values = new Map([...new Set(names)].map((name) => [name, encode(secretValue(name))]))
    for (const name of names) left -= values.get(name)?.length ?? 0
    if (left < 0)
      throw tooLong(
        `With its secrets the request would have more than ${maxFilledLength} characters of them.`,
      )
    return names.length === 0
      ? text
      : text.replaceAll(secretReference, (_, name: string) => values.get(name) ?? '')
  }
}
