import { expect, test } from '@jest/globals'
import { readLines } from './lines.js'

const parts = (...texts: Uint8Array[]) => ReadableStream.from(texts) as ReadableStream<Uint8Array>
const bytes = (text: string) => new TextEncoder().encode(text)
const reading = <Result>(read: () => Promise<Result>) => read()

async function linesIn(body: ReadableStream<Uint8Array>): Promise<string[][]> {
  const all: string[][] = []
  for await (const lines of readLines(body, reading)) all.push(lines)
  return all
}

test('readLines returns whole lines, even where chunks end within a character', async () => {
  const text = bytes('one\nz\u00fcrich \u{1f600}\n\nlast\n')
  const single = [...text].map((byte) => Uint8Array.of(byte))
  expect((await linesIn(parts(...single))).flat()).toEqual(['one', 'z\u00fcrich \u{1f600}', '', 'last'])
  expect(await linesIn(parts(text))).toEqual([['one', 'z\u00fcrich \u{1f600}', '', 'last']])
})

test('readLines omits a last line without a line break', async () => {
  expect(await linesIn(parts(bytes('one\ntw')))).toEqual([['one']])
  expect(await linesIn(parts())).toEqual([])
})

test('readLines cancels the body when the reader stops', async () => {
  let canceled = false
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes('more\n')),
    cancel: () => {
      canceled = true
    },
  })
  for await (const lines of readLines(body, reading)) {
    expect(lines).toEqual(['more'])
    break
  }
  expect(canceled).toBe(true)
})
