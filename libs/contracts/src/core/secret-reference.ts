/** Matches references to stored secrets in a text. */
export const secretReference = /\{\{\s*secrets\.([A-Za-z0-9_.-]{1,128})\s*\}\}/g

/** Names of the secrets referenced in a text. */
export function referencedSecrets(value: string): string[] {
  return [...value.matchAll(secretReference)].map(([, name]) => name ?? '')
}
