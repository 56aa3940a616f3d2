/** The parameters of a statement: values are sent apart from its text, each under a number. */
export class Parameters {
  readonly values: (string | null)[] = []

  /** The place of a value of the Postgres type, such as `$3::text::bigint`: what is sent is text. */
  add(value: string | number | boolean | null, type: string): string {
    this.values.push(value === null ? null : String(value))
    return `$${this.values.length}::text::${type}`
  }

  /** The place of a list, as Postgres writes arrays. */
  list(values: readonly (string | number | boolean)[], type: string): string {
    this.values.push(`{${values.map((value) => JSON.stringify(String(value))).join(',')}}`)
    return `$${this.values.length}::text::text[]::${type}[]`
  }
}
