import { isLongTier } from './long-tier.js'

/** Every `n`-th of similar cases, starting with the first; all of them in the long tier. */
export const everyNth = <Case>(n: number, cases: readonly Case[], isWhole = isLongTier()): Case[] =>
  cases.filter((_, index) => isWhole || index % n === 0)
