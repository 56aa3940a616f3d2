/** A reference to a stored secret in a text. */
export const secretReference = /\{\{\s*secrets\.([A-Za-z0-9_.-]{1,128})\s*\}\}/g

/** Names of the secrets a text refers to. */
export function referencedSecrets(value: string): string[] {
  return [...value.matchAll(secretReference)].map(([, name]) => name ?? '')
}
