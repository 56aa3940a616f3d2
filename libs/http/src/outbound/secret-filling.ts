import { maxSecretsLength, referencedSecrets, secretReference } from '@opsplane/contracts'

/** Characters that secrets come to in one request at most, however often it refers to them: four times all it may have. */
const maxFilledLength = 4 * maxSecretsLength

/** A text with its references to secrets filled in, each value as `encode` writes it. */
export type FillSecrets = (text: string, encode?: (value: string) => string) => string

/** What no header may have in it: line breaks, other control characters, and what is not Latin-1. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/

/** Why headers with references to these secrets cannot be sent, naming the header and the secret; undefined where they can. */
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
  /** Throws where there is no such secret. */
  secretValue(name: string): string
  /** What is thrown where the texts would become too long. */
  tooLong(message: string): Error
}

/**
 * Fills in the texts of one request. What they come to is added up before any of them is built: a text of 1 MiB can refer
 * 80,000 times to a value of 64 KiB.
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
