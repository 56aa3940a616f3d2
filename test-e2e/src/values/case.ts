/** A value as it is sent, and as it must be returned, both as JSON; `null` if it must be rejected. */
export interface ValueCase {
  column: string
  sent: string
  back: string | null
  /** Replaces `back` if the value is sent as a CSV cell, which is text for every type. */
  csv?: string | null
  /** Replaces `back` if the value is an SQL parameter, which Postgres casts to the type of the column. */
  sql?: string | null
}
type Other = Pick<ValueCase, 'csv' | 'sql'>

export const storedCase = (column: string, sent: string, back = sent, other: Other = {}): ValueCase => ({
  ...{ column, sent, back, ...other },
})
export const refusedCase = (column: string, sent: string, other: Other = {}): ValueCase => ({
  ...{ column, sent, back: null, ...other },
})
