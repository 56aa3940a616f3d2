import { texts } from '../../texts/en.js'

// Ordered so that a browser precedes the names it also claims in its user agent.
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** The client of a session in words, such as `Firefox on Linux`; for any other program, its own name. */
export function parseUserAgent(userAgent: string): string {
  const findName = (names: readonly (readonly [sign: string, name: string])[]) =>
    names.find(([sign]) => userAgent.includes(sign))?.[1]
  const browser = findName(browsers)
  if (browser === undefined) return userAgent.split(/[/\s]/, 1)[0] || texts.account.unknownClient
  const system = findName(systems)
  return system === undefined ? browser : texts.account.on(browser, system)
}
