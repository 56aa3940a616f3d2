/** The parameters of one statement. They are sent as text and cast in the statement, whatever Postgres makes of their types. */
export class Parameters {
  readonly values: (string | null)[] = []

  /** `taken` places come before those of this statement. */
  constructor(private readonly taken = 0) {}

  /** The place of a value in the statement, of this type; without one, of the type of what it is compared with. */
  bind(value: string | null, type?: string): string {
    this.values.push(value)
    const place = `$${this.taken + this.values.length}`
    if (type === undefined) return place
    return type === 'text' ? `${place}::text` : `${place}::text::${type}`
  }
}

/** A statement with its parameters. */
export interface Statement {
  text: string
  parameters: readonly (string | null)[]
}
