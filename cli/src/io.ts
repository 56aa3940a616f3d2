/** Input and output of the CLI, so that tests can replace them. */
export interface Io {
  env: Record<string, string | undefined>
  out(text: string): void
  /** For large output: resolves when the reader can accept more. */
  write(text: string): Promise<void>
  err(text: string): void
  /** Width of the output terminal in characters; `undefined` if the output is a file or a pipe. */
  columns: number | undefined
  /** Reads standard input to its end. */
  readInput(): Promise<string>
  /** Prompts for a secret without echo; `undefined` if there is no terminal. */
  askSecret: ((question: string) => Promise<string>) | undefined
  /** After the first call, Ctrl-C and SIGTERM abort this signal instead of ending the process. */
  interruption(): AbortSignal
  nowMs(): number
}
