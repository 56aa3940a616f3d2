import { ApiError } from '@opsplane/contracts'
import { constantTimeEqual, hmacSha256 } from './hash.js'

/** Opaque list cursors, valid only for the list, workspace, sort and filters they were created for. */
export interface CursorCodec {
  /** `binding` identifies the list and everything the position depends on. */
  encode(values: unknown[], binding: string): string
  /** Throws ApiError `invalid_cursor` for anything not created by this codec with the same binding. */
  decode(cursor: string, binding: string): unknown[]
}

const macLength = 12

export function cursorCodec(secret: string): CursorCodec {
  const mac = (payload: Buffer, binding: string) =>
    hmacSha256(secret, Buffer.concat([payload, Buffer.from(`\0${binding}`)])).subarray(0, macLength)

  return {
    encode(values, binding) {
      const payload = Buffer.from(JSON.stringify(values))
      return Buffer.concat([mac(payload, binding), payload]).toString('base64url')
    },
    decode(cursor, binding) {
      const bytes = Buffer.from(cursor, 'base64url')
      const payload = bytes.subarray(macLength)
      if (payload.length === 0 || !constantTimeEqual(bytes.subarray(0, macLength), mac(payload, binding))) {
        throw new ApiError('invalid_cursor', 'The cursor does not belong to this list with these filters.', {
          details: [
            { in: 'query', path: '/after', code: 'invalid_cursor', message: 'Start again without a cursor.' },
          ],
        })
      }
      return JSON.parse(payload.toString()) as unknown[]
    },
  }
}
