/**
 * The parameters of one statement. They are sent as text and cast within the statement, so that type inference by
 * Postgres does not matter.
 */
export class Parameters {
  readonly values: (string | null)[] = []

  /** `taken`: number of parameters that precede those of this statement. */
  constructor(private readonly taken = 0) {}

  /** Placeholder for a value, cast to `type`; without `type` it gets the type of the expression it is compared with. */
  bind(value: string | null, type?: string): string {
    this.values.push(value)
    const place = `$${this.taken + this.values.length}`
    if (type === undefined) return place
    return type === 'text' ? `${place}::text` : `${place}::text::${type}`
  }
}

/** A statement and its parameters. */
export interface Statement {
  text: string
  parameters: readonly (string | null)[]
}
