/** Line breaks, other control characters, and marks that change the direction of the following text. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}\u{202A}-\u{202E}\u{2066}-\u{2069}]+/gu

/**
 * The text as a single line, for names chosen by others: characters that could start another header or line become
 * a space.
 */
export function oneLine(text: string): string {
  return text.replaceAll(breaking, ' ').trim()
}
