import { parseConfigLines } from './config-file.js'

/** Domains in which a name is also looked up, as configured in resolv.conf. */
interface SearchList {
  domains: readonly string[]
  /** A name with fewer dots is looked up in the domains first. */
  ndots: number
}

const maxDots = 15
const longestName = 253

/** The last `search` or `domain` line applies, as in the system's resolver. */
export function parseSearchList(text: string): SearchList {
  const list = { domains: [] as string[], ndots: 1 }
  for (const [directive, ...words] of parseConfigLines(text, /^\s*[#;].*/)) {
    if (directive === 'search') list.domains = words
    if (directive === 'domain') list.domains = words.slice(0, 1)
    if (directive === 'options') list.ndots = ndotsOf(words) ?? list.ndots
  }
  list.domains = list.domains.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '')
  return list
}

function ndotsOf(options: string[]): number | undefined {
  const ndots = options.map((option) => /^ndots:(\d+)$/.exec(option)?.[1]).findLast((n) => n !== undefined)
  return ndots === undefined ? undefined : Math.min(Number(ndots), maxDots)
}

/** Names to query in DNS, in order, to find `hostname`. */
export function searchNames(hostname: string, { domains, ndots }: SearchList): string[] {
  if (hostname.endsWith('.')) return [hostname]
  const within = domains.map((domain) => `${hostname}.${domain}`).filter((name) => name.length <= longestName)
  const dots = hostname.split('.').length - 1
  return dots >= ndots ? [hostname, ...within] : [...within, hostname]
}
