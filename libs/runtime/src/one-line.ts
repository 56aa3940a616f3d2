/** Line breaks, other control characters, and marks that turn the direction of the text after them. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]+/gu

/** The text as one line, for names that others chose: what could start a header or a line of its own is a space. */
export function oneLine(text: string): string {
  return text.replaceAll(breaking, ' ').trim()
}
