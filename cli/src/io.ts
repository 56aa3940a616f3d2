/** What the tool has to do with the outside, so that tests can stand in for it. */
export interface Io {
  env: Record<string, string | undefined>
  out(text: string): void
  /** The same for large output: resolves when the reader can accept more. */
  write(text: string): Promise<void>
  err(text: string): void
  /** Width of the terminal the output goes to; undefined when it goes to a file or a pipe. */
  columns: number | undefined
  /** Everything that comes on standard input. */
  readInput(): Promise<string>
  /** Asks a person without showing what is typed; undefined when there is no terminal. */
  askSecret: ((question: string) => Promise<string>) | undefined
  /** From the first call on, Ctrl-C and SIGTERM abort this signal instead of ending the process. */
  interruption(): AbortSignal
  nowMs(): number
}
