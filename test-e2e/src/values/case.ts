/** A value as it is sent, and as it has to come back, both as JSON; null where it has to be refused. */
export interface ValueCase {
  column: string
  sent: string
  back: string | null
  /** Where it is sent as a cell of CSV, which is a text whatever the type, instead of `back`. */
  csv?: string | null
  /** Where it is a parameter of SQL, which Postgres casts to the type of the column, instead of `back`. */
  sql?: string | null
}
type Other = Pick<ValueCase, 'csv' | 'sql'>

export const storedCase = (column: string, sent: string, back = sent, other: Other = {}): ValueCase => ({
  ...{ column, sent, back, ...other },
})
export const refusedCase = (column: string, sent: string, other: Other = {}): ValueCase => ({
  ...{ column, sent, back: null, ...other },
})
