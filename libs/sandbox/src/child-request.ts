/** Request to a child: one message for all expressions of a step. */
export type ChildRequest =
  | {
      op: 'evaluate'
      expressions: readonly string[]
      /** Total for all expressions, in milliseconds. */
      timeoutMs: number
      maxOutputBytes: number
      input: unknown
      bindings?: Record<string, unknown> | undefined
    }
  | { op: 'check'; expressions: readonly string[] }
