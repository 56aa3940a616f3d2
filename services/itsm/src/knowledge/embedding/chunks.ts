const maxCharacters = 1_500

/**
 * Pieces of an article short enough for an embedding model, each beginning with the title, which tells what the
 * piece is about. Cut between paragraphs where possible, else between words.
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
