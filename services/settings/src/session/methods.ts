import type { SignInMethod } from '@opsplane/contracts'

/** Single sign-on counts as one: its provider decides what it requires. */
const factors: ReadonlySet<SignInMethod> = new Set(['passkey', 'totp', 'recovery_code', 'sso'])

/** Whether a person has proved more than a password. */
export const provesFactor = (methods: readonly SignInMethod[]): boolean =>
  methods.some((method) => factors.has(method))
