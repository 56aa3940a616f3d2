/** The values of the secrets one use of a connector refers to. */
export interface Secrets {
  /** A text with its references of the form `{{secrets.name}}` filled in, for this host alone. Throws CallFailure. */
  fill(text: string, host: string): Promise<string>
  /** `***` in place of every value filled in so far. */
  redact(text: string, cutOff?: boolean): string
}
