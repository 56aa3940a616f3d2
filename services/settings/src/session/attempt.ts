/** One login attempt, from its request until it has failed or succeeded. */
export interface Attempt {
  pair: string
  network: string
  account: string
}
