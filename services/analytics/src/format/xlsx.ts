import { z } from 'zod'
import type { Column, Row } from './column.js'
import type { FormatWriter, WriterState } from './writer.js'
import { cellWriters, textCell } from './xlsx-cells.js'
import { workbookParts } from './xlsx-workbook.js'
import { ZipState, zipWriter } from './zip.js'

/** Rows of a sheet without its header; Excel allows 1,048,576 in total. */
export const maxSheetRows = 1_048_575
/** Number of characters compressed in one piece. */
const pieceCharacters = 262_144

const State = z.object({
  zip: ZipState,
  sheets: z.number(),
  /** Rows of the current sheet, without the header. */
  rows: z.number(),
  cut: z.number(),
})

/**
 * Writes a workbook with as many sheets as the rows need. The XML is written here because streaming libraries cannot
 * continue a file in another process.
 */
export function xlsxWriter(
  columns: readonly Column[],
  savedState?: WriterState,
  maxRows = maxSheetRows,
): FormatWriter {
  const restored = savedState === undefined ? undefined : State.parse(savedState)
  const zip = zipWriter(restored?.zip)
  let { sheets, rows, cut } = restored ?? { sheets: 0, rows: 0, cut: 0 }
  const letters = columns.map((_, at) => columnLetters(at))
  const cells = cellWriters(columns, () => {
    cut++
  })
  const header = `<row r="1">${columns.map(({ label }, at) => textCell(`${letters[at]}1`, label)).join('')}</row>`

  const rowText = (row: Row): string => {
    const number = rows + 1
    let text = `<row r="${number}">`
    for (let at = 0; at < cells.length; at++) text += cells[at]?.(`${letters[at]}${number}`, row[at]) ?? ''
    return `${text}</row>`
  }
  const beginSheet = async (): Promise<Buffer[]> => {
    sheets++
    rows = 0
    return [zip.begin(`xl/worksheets/sheet${sheets}.xml`), await zip.add(sheetStart + header)]
  }
  const endSheet = async (): Promise<Buffer[]> => [await zip.add(sheetEnd), zip.finish()]

  const write = async (newRows: readonly Row[]): Promise<Buffer> => {
    const parts: Buffer[] = sheets === 0 ? await beginSheet() : []
    let text = ''
    const compress = async () => {
      if (text !== '') parts.push(await zip.add(text))
      text = ''
    }
    for (const row of newRows) {
      if (rows >= maxRows) {
        await compress()
        parts.push(...(await endSheet()), ...(await beginSheet()))
      }
      rows++
      text += rowText(row)
      if (text.length > pieceCharacters) await compress()
    }
    await compress()
    return Buffer.concat(parts)
  }

  return {
    write,
    bufferedBytes: () => 0,
    flush: async () => new Uint8Array(),
    state: () => ({ zip: zip.state(), sheets, rows, cut }),
    async end() {
      const parts = sheets === 0 ? await beginSheet() : []
      parts.push(...(await endSheet()))
      for (const [name, content] of workbookParts(sheets))
        parts.push(zip.begin(name), await zip.add(content), zip.finish())
      return Buffer.concat([...parts, zip.end()])
    },
    warnings: () =>
      cut === 0
        ? []
        : [`${cut} texts were longer than the 32,767 characters a cell of a workbook holds, and were cut.`],
  }
}

/** Column letters: A, B, …, Z, AA, AB, … */
function columnLetters(at: number): string {
  const letter = String.fromCharCode(65 + (at % 26))
  return at < 26 ? letter : columnLetters(Math.floor(at / 26) - 1) + letter
}

const sheetStart =
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
  '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">' +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
const sheetEnd = '</sheetData></worksheet>'
