import type { SsoRefusal } from '@opsplane/contracts'

/** The subject a provider named, as far as it is known. */
export interface RefusedSubject {
  subject: string
  email: string | null
}

/** A sign-in at a provider was refused. The message is for the person, and says what to do. */
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
