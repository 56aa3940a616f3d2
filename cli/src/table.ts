export interface Column<Item> {
  title: string
  value(item: Item): string | number | null
  /** May be truncated if the terminal is too narrow. Values that users copy, such as an id, are never truncated. */
  elastic?: boolean
}

const gap = '  '
const leastWidth = 8

/**
 * Renders an aligned table with a title row and one line per item. If a width is given, elastic columns are truncated to
 * fit.
 */
export function renderTable<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  width?: number,
): string {
  const rows = [
    columns.map(({ title }) => title.toUpperCase()),
    ...items.map((item) => columns.map(({ value }) => cellText(value(item)))),
  ]
  const natural = columns.map((_, index) => Math.max(...rows.map((row) => lengthOf(row[index] ?? ''))))
  const widths = width === undefined ? natural : shrink(columns, natural, width)
  return rows.map((row) => `${renderRow(row, widths)}\n`).join('')
}

/** Formats text as one line, truncated to the terminal width if there is one; control characters are made visible. */
export function oneLine(text: string, width?: number): string {
  const line = printable(text)
  return width === undefined ? line : cut(line, width)
}

/** Text from an endpoint or a user must not move the cursor, set the title or hide anything. */
export function printable(text: string): string {
  return text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this expression exists to match control characters.
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) =>
      escapes[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const cellText = (value: string | number | null) => (value === null ? '-' : printable(String(value)))

const lengthOf = (text: string) => [...text].length

function renderRow(row: readonly string[], widths: readonly number[]): string {
  const cells = row.map((text, index) => {
    const width = widths[index] ?? 0
    const shown = cut(text, width)
    return shown + ' '.repeat(width - lengthOf(shown))
  })
  return cells.join(gap).trimEnd()
}

function cut(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(width - 1, 0)).join('')}…`
}

/** Shrinks the widest elastic column repeatedly until all columns fit or none can shrink further. */
function shrink<Item>(columns: readonly Column<Item>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  const room = width - gap.length * (columns.length - 1)
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const elasticWidths = widths.map((one, index) => (columns[index]?.elastic && one > leastWidth ? one : 0))
    const widest = elasticWidths.indexOf(Math.max(...elasticWidths))
    if (!elasticWidths[widest]) break
    widths[widest] = elasticWidths[widest] - 1
  }
  return widths
}
