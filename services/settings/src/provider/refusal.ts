import type { SsoRefusal } from '@opsplane/contracts'

/** Whom the provider meant, as far as it has come to that. */
export interface Meant {
  subject: string
  email: string | null
}

/** Somebody came from the provider and is not let in. The message is for them, and says what to do. */
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
