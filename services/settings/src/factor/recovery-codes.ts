import { randomInt } from 'node:crypto'
import { sha256Hex } from '@opsplane/runtime'

export const recoveryCodeCount = 10
/** Without letters that are read as digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const groups = 4
const groupLength = 4

const group = () =>
  Array.from({ length: groupLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('')

/** 80 bits: no slow hash is needed. */
export const newRecoveryCode = (): string => Array.from({ length: groups }, group).join('-')

/** The hash of a code as it is kept, however it is typed. */
export const recoveryCodeHash = (accountId: string, code: string): string =>
  sha256Hex(`${accountId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
