import { randomInt } from 'node:crypto'
import { sha256Hex } from '@opsplane/runtime'

export const recoveryCodeCount = 10
/** Without letters that can be mistaken for digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const groups = 4
const groupLength = 4

const group = () =>
  Array.from({ length: groupLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('')

/** 80 bits of entropy, so no slow hash is needed. */
export const newRecoveryCode = (): string => Array.from({ length: groups }, group).join('-')

/** The stored hash of a code, independent of case, spaces and hyphens. */
export const recoveryCodeHash = (accountId: string, code: string): string =>
  sha256Hex(`${accountId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
