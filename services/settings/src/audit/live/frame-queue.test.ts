import { expect, test } from '@jest/globals'
import { changedPermissions } from '@opsplane/contracts'
import { createFrameQueue } from './frame-queue.js'
import { anyChanged, type ChangedFrame } from './gathered-changes.js'

const queueOf = (permissions: readonly string[], changed?: 'true' | 'false') =>
  createFrameQueue({
    ...{ environment: 'production', permissions, query: { ...(changed && { changed }) } },
    hidesRecords: async () => false,
    cut: () => {},
  })
const changed = (type: ChangedFrame['type'], frame: string): ChangedFrame => ({ type, frame })

test('unread changes are merged into one message per type, without ids', () => {
  const queue = queueOf(Object.values(changedPermissions))
  queue.addChanged(changed('run', 'first'))
  queue.addChanged(changed('delivery', 'other'))
  queue.addChanged(changed('run', 'second'))
  expect(queue.take().changed).toBe(`${anyChanged('run').frame}other`)
  queue.addChanged(changed('run', 'third'))
  expect([queue.take().changed, queue.take().changed]).toEqual(['third', ''])
})

test('changes of each type are sent only to readers who have its permission and want changes', () => {
  const types = Object.keys(changedPermissions) as ChangedFrame['type'][]
  const shownTo = (permissions: readonly string[], wanted?: 'true' | 'false') => {
    const queue = queueOf(permissions, wanted)
    for (const type of types) queue.addChanged(changed(type, `${type} `))
    return queue.take().changed
  }
  const all = Object.values(changedPermissions)
  for (const type of types) {
    expect(shownTo([changedPermissions[type]])).toBe(`${type} `)
    expect(shownTo(all.filter((each) => each !== changedPermissions[type]))).not.toContain(type)
  }
  expect([shownTo(all, 'true'), shownTo(all, 'false'), shownTo(['audit:read'])]).toEqual([
    `${types.join(' ')} `,
    '',
    '',
  ])
})
