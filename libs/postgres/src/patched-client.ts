/** The patch reports the loss of a connection to its transaction by a dedicated function. */
const patchedHandler = /\.onclose\s*=\s*\(?\w+\)?\s*=>/

/**
 * Throws if the client was installed without the patch: it would run the rest of a transaction whose connection
 * was lost on another connection. Detected in the client's own code, which a bundle contains as well.
 */
export function assertPatchedClient(client: { begin: { toString(): string } }): void {
  if (!patchedHandler.test(client.begin.toString())) {
    throw new Error(
      'The postgres client lacks patches/postgres@3.4.9.patch, as other package managers than pnpm leave it out. ' +
        'Install with the pnpm that package.json names. Why: docs/adr/history/008-patched-postgres-client.md',
    )
  }
}
