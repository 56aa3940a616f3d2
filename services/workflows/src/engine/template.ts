/** A JSON value whose strings may hold `{{ expression }}`, parsed: what `parseTemplate` of the sandbox gives. */
export interface Template {
  readonly root: unknown
  readonly expressions: readonly { source: string; plain: readonly { name: string }[] | undefined }[]
}

export type Evaluated = { ok: true; value: unknown } | { ok: false; error: ExpressionError }

export interface ExpressionError {
  code: string
  message: string
  path?: string
  expression?: string
  position?: number
}
