import { ApiError } from '@opsplane/contracts'

/** Converts a violated unique constraint into `conflict` with the field it belongs to. */
export async function rejectDuplicate<Result>(
  saved: Promise<Result>,
  { constraint, field, message }: { constraint: string; field: string; message: string },
): Promise<Result> {
  try {
    return await saved
  } catch (error) {
    const isDuplicate = error instanceof ApiError && error.details[0]?.params?.constraint === constraint
    if (!isDuplicate) throw error
    throw new ApiError('conflict', message, {
      details: [{ in: 'body', path: `/${field}`, code: 'not_unique', message }],
      cause: error,
    })
  }
}
