import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { ConfigError, type RunnableService } from '@opsplane/runtime'
import { mapNames } from '../map-names.js'
import { services } from '../services.js'

/** Variables that the local run itself reads, in addition to those it passes to the services. */
export const ownVariables = [
  'DATABASE_URL',
  'DATA_DATABASE_URL',
  'FREE_PORTS',
  'METRICS_PORT',
  'NATS_PREFIX',
  'NATS_URL',
  'OPSPLANE_HOME',
  'PORT',
  'PUBLIC_ORIGIN',
] as const

/** Every variable that a service reads, determined by loading its configuration and recording the reads. */
export function findVariables({ loadConfig }: Pick<RunnableService, 'loadConfig'>): string[] {
  const names = new Set<string>()
  const watched = new Proxy<Record<string, string>>({}, { get: (_env, key) => void names.add(String(key)) })
  try {
    loadConfig(watched)
  } catch (error) {
    // None of its variables is set.
    if (!(error instanceof ConfigError)) throw error
  }
  return [...names]
}

/** The variables of each service. */
export const serviceVariables = (): Record<ServiceName, string[]> =>
  mapNames(serviceNames, (name) => findVariables(services[name]))

/** Variables that this process and its services read. */
export const knownVariables = (): string[] => [
  ...new Set([...ownVariables, ...Object.values(serviceVariables()).flat()]),
]

/** Warnings about variables of this environment that have no effect. */
export const unreadVariables = (environment: Readonly<Record<string, string | undefined>>): string[] =>
  nearlyKnown(environment, knownVariables())

/** A warning for each variable that is set but not read, and whose name is similar to one that is read. */
export function nearlyKnown(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const names = new Set(known)
  return Object.keys(environment)
    .filter((name) => !names.has(name))
    .flatMap((name) => {
      const near = known.find((each) => isNear(name, each))
      return near === undefined ? [] : [`${name} is read by nothing. ${near} is: is that what was meant?`]
    })
}

/** Shorter names are excluded because too many are similar by chance: HOME is not a typo of HOST. */
const shortest = 6

/** At most two letters apart, or one name is a prefix of the other, ending at a word boundary. */
function isNear(name: string, known: string): boolean {
  const [short, long] = name.length < known.length ? [name, known] : [known, name]
  if (short.length < shortest) return isOneLetterMore(short, long)
  return (
    (short.includes('_') && long.startsWith(`${short}_`)) ||
    (long.length - short.length <= 2 && distance(name, known) <= 2)
  )
}

/** For example PORTS for PORT. */
const isOneLetterMore = (short: string, long: string): boolean =>
  short.length >= 4 && long.length === short.length + 1 && long.startsWith(short)

/** Levenshtein distance: number of letters to add, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [to, wanted] of [...other].entries()) {
      const replaced = (row[to] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
