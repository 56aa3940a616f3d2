/** What a child is asked: one message for all expressions of a step. */
export type ChildRequest =
  | {
      op: 'evaluate'
      expressions: readonly string[]
      /** For all of them together. */
      timeoutMs: number
      maxOutputBytes: number
      input: unknown
      bindings?: Record<string, unknown> | undefined
    }
  | { op: 'check'; expressions: readonly string[] }
