import { isIPv4, isIPv6 } from 'node:net'

/** Of an IPv6 address, the part that names a network: who has one host in it has 2^64 addresses to choose from. */
const networkBytes = 8

/**
 * The network an address is counted under: an IPv4 address by itself, an IPv6 address by its
 * network. What is no address counts as it is written.
 */
export function parseNetwork(address: string): string {
  const [bare = ''] = address.split('%', 1)
  if (!isIPv6(bare)) return isIPv4(bare) ? bare : address.slice(0, 100)
  const bytes = bytesOf(bare)
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  if (mapped) return bytes.slice(12).join('.')
  return `${Buffer.from(bytes.slice(0, networkBytes)).toString('hex')}/64`
}

function bytesOf(address: string): number[] {
  // The URL parser writes every spelling, also one with an IPv4 tail, as groups of hexadecimal digits.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const left = groupsOf(head)
  const right = tail === undefined ? [] : groupsOf(tail)
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0)
  return [...left, ...gap, ...right].flatMap((group) => [group >> 8, group & 0xff])
}

const groupsOf = (text: string) =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
