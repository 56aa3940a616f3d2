import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { parseConfigLines } from './config-file.js'

/** The addresses of each name of a hosts file; names are in lower case. */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const [address = '', ...names] of parseConfigLines(text, /#.*/)) {
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names.map((each) => each.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }])
  }
  return hosts
}
