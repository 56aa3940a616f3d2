import { isIPv4, isIPv6 } from 'node:net'

/** Length of the network part of an IPv6 address: a single host in it can choose among 2^64 addresses. */
const networkBytes = 8

/**
 * The network under which an address is counted: an IPv4 address by itself, an IPv6 address by its network. Any
 * other text counts as it is.
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
  // The URL parser normalizes every spelling, even one with an IPv4 tail, to groups of hexadecimal digits.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const left = groupsOf(head)
  const right = tail === undefined ? [] : groupsOf(tail)
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0)
  return [...left, ...gap, ...right].flatMap((group) => [group >> 8, group & 0xff])
}

const groupsOf = (text: string) =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
