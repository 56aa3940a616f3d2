import type { SignInMethod } from '@opsplane/contracts'

/** Single sign-on counts as one: what it takes is for its provider to say. */
const factors: ReadonlySet<SignInMethod> = new Set(['passkey', 'totp', 'recovery_code', 'sso'])

/** Whether somebody has proved more than a password. */
export const provesFactor = (methods: readonly SignInMethod[]): boolean =>
  methods.some((method) => factors.has(method))
