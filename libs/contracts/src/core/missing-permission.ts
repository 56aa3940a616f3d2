import { ApiError } from './errors.js'

/** The refusal of a request that would need permissions its caller does not hold: 403 `forbidden`, with what is missing. */
export const missingPermissionError = (message: string, missing: readonly string[], path = ''): ApiError =>
  new ApiError('forbidden', message, {
    details: [{ in: 'body', path, code: 'permission_not_held', message, params: { missing: [...missing] } }],
  })
