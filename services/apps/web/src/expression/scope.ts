/** What an expression sees; plain JSON. */
export type ExpressionScope = Readonly<Record<string, unknown>>
