/** The patch hands a transaction the loss of its connection by a function of its own. */
const patchedHandler = /\.onclose\s*=\s*\(?\w+\)?\s*=>/

/**
 * Throws where the client was installed without the patch: it would run what is left of a transaction whose connection
 * was lost on another one. Seen in the client's own code, which is there in a bundle as well.
 */
export function assertPatchedClient(client: { begin: { toString(): string } }): void {
  if (!patchedHandler.test(client.begin.toString())) {
    throw new Error(
      'The postgres client lacks patches/postgres@3.4.9.patch, as other package managers than pnpm leave it out. ' +
        'Install with the pnpm that package.json names. Why: docs/adr/history/008-patched-postgres-client.md',
    )
  }
}
