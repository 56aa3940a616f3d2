import { expect, test } from '@jest/globals'
import { createOutboxRecorder } from './outbox-recorder.js'
import { trackLease } from './relay-lease.js'
import type { Progress } from './relay-store.js'
import { createStreamProgress } from './stream-progress.js'

test('records on close the completed events it failed to record before, as the floor covers them', async () => {
  const recorded: Progress[] = []
  const faults: unknown[] = []
  let floor = 0
  let fail = () => {}
  let whenAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    whenAsked = resolve
  })
  const recorder = createOutboxRecorder({
    store: {
      record: async (_, progress) => {
        recorded.push(progress)
        if (recorded.length > 1) return true
        whenAsked()
        return new Promise((_, reject) => {
          fail = () => reject(new Error('cut off'))
        })
      },
    },
    lease: trackLease({ owner: 'one', fence: '1' }, performance.now()),
    progress: createStreamProgress([], 'stream', 0),
    floor: () => floor,
    onRenewed: () => {},
    onEnd: (fault) => faults.push(fault),
  })
  recorder.add(1)
  recorder.add(2)
  floor = 2
  await asked
  recorder.add(3)
  fail()
  floor = 3
  await recorder.close()
  expect(faults).toHaveLength(1)
  expect(recorded).toHaveLength(2)
  expect(recorded.at(-1)).toMatchObject({ done: [1, 2, 3], mark: { floor: 3 } })
})
