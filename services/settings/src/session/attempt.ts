/** One login, from when it is asked for until it has failed or succeeded. */
export interface Attempt {
  pair: string
  network: string
  account: string
}
