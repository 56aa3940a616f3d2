import { createHash } from 'node:crypto'
import { idPrefixes, type TenantScope } from '@opsplane/contracts'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ulidLength = 26

/**
 * Derives the id of a tenant's settings from the tenant, so that there is exactly one row, found by its primary
 * key.
 */
export function toSettingsId({ workspaceId, environment }: TenantScope): string {
  const hash = createHash('sha256').update(`${workspaceId} ${environment}`).digest()
  const ulid = [...hash.subarray(0, ulidLength)].map((byte) => digits.charAt(byte % digits.length)).join('')
  // The first digit of a ULID encodes three bits only.
  return `${idPrefixes.itsmSettings}_${Number(hash[0]) % 8}${ulid.slice(1)}`
}
