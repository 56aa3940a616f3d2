import { ApiError } from './errors.js'

/** 403 `forbidden` for a request that needs permissions its caller lacks, with the missing permissions in the details. */
export const missingPermissionError = (message: string, missing: readonly string[], path = ''): ApiError =>
  new ApiError('forbidden', message, {
    details: [{ in: 'body', path, code: 'permission_not_held', message, params: { missing: [...missing] } }],
  })
