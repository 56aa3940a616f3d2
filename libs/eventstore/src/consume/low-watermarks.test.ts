import { expect, test } from '@jest/globals'
import { eventHeaders } from '@opsplane/contracts'
import type { StreamMessage } from '@opsplane/nats'
import { createLowWatermarks } from './low-watermarks.js'

const message = (seq: number, headers: Record<string, string>) =>
  ({ seq, header: (name: string) => headers[name] }) as StreamMessage
const from = (seq: number, source: string, floor: number) =>
  message(seq, { [eventHeaders.source]: source, [eventHeaders.lowWatermark]: String(floor) })

test('a low watermark rises with acknowledged messages, per source, in any order of arrival', () => {
  const lowWatermarks = createLowWatermarks()
  for (const each of [from(2, 'itsm', 10), from(1, 'itsm', 9), from(3, 'settings', 4), from(4, 'itsm', 12)])
    lowWatermarks.note(each)
  lowWatermarks.note(message(5, {}))
  expect(lowWatermarks.current()).toEqual(new Map())
  lowWatermarks.acknowledged(3)
  expect(lowWatermarks.current()).toEqual(
    new Map([
      ['itsm', 10],
      ['settings', 4],
    ]),
  )
  lowWatermarks.acknowledged(10)
  expect(lowWatermarks.current().get('itsm')).toBe(12)
})

test('a low watermark never falls, and ignores sequences of a deleted stream', () => {
  const lowWatermarks = createLowWatermarks()
  lowWatermarks.restore(new Map([['itsm', 50]]))
  lowWatermarks.note(from(7, 'itsm', 40))
  lowWatermarks.acknowledged(7)
  expect(lowWatermarks.current().get('itsm')).toBe(50)
  lowWatermarks.note(from(8, 'itsm', 60))
  lowWatermarks.forget()
  lowWatermarks.acknowledged(9)
  expect(lowWatermarks.current().get('itsm')).toBe(50)
})
