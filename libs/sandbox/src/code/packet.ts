/** A message between parent and child: a header, and texts that are passed on without parsing. */
interface Packet<Header> {
  header: Header
  parts: string[]
}

/** Formats the header with the lengths of the parts, a line feed, and the parts. */
export const packet = (header: object, ...parts: string[]): string =>
  `${JSON.stringify({ ...header, lengths: parts.map(({ length }) => length) })}\n${parts.join('')}`

/** Throws if `parse` throws, or if the lengths do not match the parts. */
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
