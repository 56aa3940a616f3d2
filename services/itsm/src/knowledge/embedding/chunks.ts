const maxCharacters = 1_500

/**
 * Splits an article into chunks short enough for an embedding model. Each chunk begins with the title, for context.
 * Splits between paragraphs where possible, otherwise between words.
 */
export function splitIntoChunks({
  title,
  summary,
  body,
}: {
  title: string
  summary: string | null
  body: string
}): string[] {
  const head = summary ? `${title}\n${summary}` : title
  const pieces: string[] = []
  let piece = ''
  for (const part of body.split(/\n{2,}/).flatMap(splitParagraph)) {
    if (piece !== '' && piece.length + part.length > maxCharacters) {
      pieces.push(piece)
      piece = ''
    }
    piece = piece === '' ? part : `${piece}\n\n${part}`
  }
  if (piece.trim() !== '' || pieces.length === 0) pieces.push(piece)
  return pieces.map((text) => `${head}\n\n${text}`.trim())
}

function splitParagraph(paragraph: string): string[] {
  if (paragraph.length <= maxCharacters) return [paragraph]
  const parts = paragraph.match(
    new RegExp(`[\\s\\S]{1,${maxCharacters}}(?=\\s|$)|\\S{${maxCharacters}}`, 'g'),
  )
  return (parts ?? [paragraph.slice(0, maxCharacters)]).map((part) => part.trim())
}
