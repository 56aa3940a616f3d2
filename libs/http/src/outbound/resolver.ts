import { type LookupAddress, NODATA, NOTFOUND, SERVFAIL } from 'node:dns'
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { createConfigFile } from './config-file.js'
import { parseHosts } from './hosts-file.js'
import { findErrorCode } from './outbound-error.js'
import { parseSearchList, searchNames } from './search-list.js'
import type { Resolve } from './system-lookup.js'
import { createBoundedLookup } from './system-lookup.js'
import { isLocalName } from './url-rules.js'

export interface ResolverOptions {
  /** DNS servers (`127.0.0.1:5353`) instead of those of the system. */
  servers?: readonly string[]
  hostsFile?: string
  resolvConf?: string
  /** Maximum queries to each DNS server. The first one times out after 1 s; the timeout doubles with each further one. */
  tries?: number
  /** The system's own resolver, used for names without a dot that neither the hosts file nor DNS contains. */
  lookup?: Resolve
}

const firstTryMs = 1000
const usualTries = 3

/** Maximum time to wait for the second address family after the first has been resolved. */
const lagMs = 500

/**
 * Resolves names like the system (hosts file, then DNS with its search domains) but without its threads: names whose
 * DNS server never answers do not delay others.
 *
 * The system's resolver comes last, for names only it knows, such as those of the local network. Only names without a
 * dot reach it: users cannot run DNS servers for these, so they cannot make lookups hang.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const readHosts = createConfigFile(options.hostsFile ?? '/etc/hosts', parseHosts)
  const readSearchList = createConfigFile(options.resolvConf ?? '/etc/resolv.conf', parseSearchList)
  const lookup = createBoundedLookup(options.lookup ?? resolveBySystem)

  return async (hostname, signal) => {
    const bare = hostname.replace(/\.$/, '').toLowerCase()
    const listed = (await readHosts()).get(bare)
    if (listed) return listed
    if (isLocalName(bare)) return [{ address: '127.0.0.1', family: 4 }]
    try {
      return await resolveFirst(searchNames(hostname, await readSearchList()), options, signal)
    } catch (error) {
      if (isNegative(error) && !bare.includes('.')) return lookup(hostname, signal)
      throw error
    }
  }
}

const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true })

/** The addresses of the first name that has any. A failing server ends the search only for the name it fails at. */
async function resolveFirst(
  names: string[],
  options: ResolverOptions,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  let failure: unknown
  for (const name of names) {
    try {
      return await resolveBoth(name, options, signal)
    } catch (error) {
      if (!isNegative(error) && findErrorCode(error) !== SERVFAIL) throw error
      if (failure === undefined || isNegative(failure)) failure = error
    }
  }
  throw failure
}

/**
 * Queries both families concurrently and uses the result of one if the other fails or is late. Each name has a separate
 * resolver, so it can be cancelled alone and uses the current resolv.conf.
 */
async function resolveBoth(
  name: string,
  options: ResolverOptions,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: firstTryMs, tries: options.tries ?? usualTries })
  if (options.servers) resolver.setServers(options.servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  let lag: NodeJS.Timeout | undefined
  const resolveFamily = async (query: Promise<string[]>, family: 4 | 6) => {
    const addresses = await query
    lag ??= setTimeout(cancel, lagMs)
    return addresses.map((address) => ({ address, family }))
  }
  try {
    const answers = await Promise.allSettled([
      resolveFamily(resolver.resolve4(name), 4),
      resolveFamily(resolver.resolve6(name), 6),
    ])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    throw reasons.find((reason) => !isNegative(reason)) ?? reasons[0]
  } finally {
    clearTimeout(lag)
    signal.removeEventListener('abort', cancel)
  }
}

/** Whether DNS answered that the name does not exist or has no such addresses. */
function isNegative(error: unknown): boolean {
  const code = findErrorCode(error)
  return code === NOTFOUND || code === NODATA
}
