/** The throttling keys of one login attempt. */
export interface Attempt {
  pair: string
  network: string
  account: string
}
