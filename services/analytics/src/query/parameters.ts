/** The parameters of a statement; each value is sent separately under a number. */
export class Parameters {
  readonly values: (string | null)[] = []

  /** Returns the placeholder of a value with its Postgres type, such as `$3::text::bigint`; values are sent as text. */
  add(value: string | number | boolean | null, type: string): string {
    this.values.push(value === null ? null : String(value))
    return `$${this.values.length}::text::${type}`
  }

  /** Returns the placeholder of a list, sent as a Postgres array literal. */
  list(values: readonly (string | number | boolean)[], type: string): string {
    this.values.push(`{${values.map((value) => JSON.stringify(String(value))).join(',')}}`)
    return `$${this.values.length}::text::text[]::${type}[]`
  }
}
