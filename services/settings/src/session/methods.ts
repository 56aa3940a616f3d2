import type { SignInMethod } from '@opsplane/contracts'

/** Methods that count as a second factor. Single sign-on does, because its provider decides which proofs it requires. */
const factors: ReadonlySet<SignInMethod> = new Set(['passkey', 'totp', 'recovery_code', 'sso'])

/** Whether a person has proved more than a password. */
export const provesFactor = (methods: readonly SignInMethod[]): boolean =>
  methods.some((method) => factors.has(method))
