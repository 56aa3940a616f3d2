import { texts } from '../../texts/en.js'

// An order in which a name comes before those that it says it is as well.
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

/** The program of a session, in words: `Firefox on Linux`; of another program its own name. */
export function parseUserAgent(userAgent: string): string {
  const named = (names: readonly (readonly [sign: string, name: string])[]) =>
    names.find(([sign]) => userAgent.includes(sign))?.[1]
  const browser = named(browsers)
  if (browser === undefined) return userAgent.split(/[/\s]/, 1)[0] || texts.account.unknownClient
  const system = named(systems)
  return system === undefined ? browser : texts.account.on(browser, system)
}
