/** Markers of the database's choosing around matches: of the private use area, and taken out of texts before. */
export const matchStart = '\uE000'
export const matchEnd = '\uE001'

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** HTML whose only markup is `<mark>` around matches, whatever the article contains. */
export function toHtml(marked: string): string {
  return marked
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(matchStart, '<mark>')
    .replaceAll(matchEnd, '</mark>')
}

export function toPlain(marked: string): string {
  return marked.replaceAll(matchStart, '').replaceAll(matchEnd, '').replaceAll(/\s+/g, ' ').trim()
}
