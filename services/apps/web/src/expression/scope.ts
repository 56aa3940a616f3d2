/** Variables of an expression; plain JSON. */
export type ExpressionScope = Readonly<Record<string, unknown>>
