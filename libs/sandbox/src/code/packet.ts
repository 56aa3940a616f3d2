/** A message between a process and its child: a header, and texts that need not be parsed to be passed on. */
interface Packet<Header> {
  header: Header
  parts: string[]
}

/** The header with the lengths of the parts, a line feed, and the parts. */
export const packet = (header: object, ...parts: string[]): string =>
  `${JSON.stringify({ ...header, lengths: parts.map(({ length }) => length) })}\n${parts.join('')}`

/** Throws where `parse` does, or where the lengths are not those of the parts. */
export function readPacket<Header extends { lengths: number[] }>(
  text: string,
  parse: (header: unknown) => Header,
): Packet<Header> {
  const end = text.indexOf('\n')
  const header = parse(JSON.parse(text.slice(0, end)))
  let from = end + 1
  const parts = header.lengths.map((length) => {
    from += length
    return text.slice(from - length, from)
  })
  if (end < 0 || from !== text.length) throw new Error('is no packet')
  return { header, parts }
}
