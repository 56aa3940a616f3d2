import type { SsoRefusal } from '@opsplane/contracts'

/** The subject named by a provider, as far as it is known. */
export interface RefusedSubject {
  subject: string
  email: string | null
}

/** Thrown when a sign-in at a provider is rejected. The message is for the person, and contains instructions. */
export class SignInRefused extends Error {
  constructor(
    readonly reason: SsoRefusal,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'SignInRefused'
  }
}
