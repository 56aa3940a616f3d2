import { ApiError } from '@opsplane/contracts'

const mebibyte = 1_048_576
/**
 * Maximum bytes that one use of a tenant connection may receive from Postgres. Bytes beyond the limit are never
 * buffered, however large a row is: the connection is closed.
 */
export const answerBytes = {
  /** SQL written by tenants: the result of a query, plus the rest of a page of rows that may arrive behind it. */
  session: 5 * mebibyte,
  /** A page of records, or a page of an export including the record that fills it. */
  read: 9 * mebibyte,
  /** All records written by one request. A request body is at most 16 MiB. */
  write: 32 * mebibyte,
} as const

/** Number of records that always fit an answer: Postgres limits each record to 256 KiB of JSON. */
export const maxRecordsRead = 32
export const maxRecordsWritten = 100

/** The answer of Postgres exceeds the limit in `answerBytes`. The transaction is rolled back. */
export class AnswerTooLargeError extends ApiError {
  constructor(bytes: number, options: { cause?: unknown } = {}) {
    const maxSize = `${Math.floor(bytes / mebibyte)} MiB`
    super(
      'payload_too_large',
      `The records of this answer have more than ${maxSize}. Ask for fewer at once.`,
      options,
    )
  }
}
