import { expect, it } from '@jest/globals'
import { createWorkspaceSlots } from './workspace-slots.js'

const most = { all: 3, ofOne: 2 }

it('limits slots in total and for each workspace, and lists the workspaces at their limit', () => {
  const places = createWorkspaceSlots(most)
  places.occupy('ws_a')
  expect(places.capacity()).toEqual({ all: 2, ofOne: 1, full: new Set() })
  places.occupy('ws_a')
  expect(places.hasSlotFor('ws_a')).toBe(false)
  expect(places.hasSlotFor('ws_b')).toBe(true)
  expect(places.capacity()).toEqual({ all: 1, ofOne: 2, full: new Set(['ws_a']) })
  places.occupy('ws_b')
  expect(places.hasSlotFor('ws_c')).toBe(false)
  places.free('ws_a')
  expect(places.hasSlotFor('ws_c')).toBe(true)
  expect(places.capacity()).toEqual({ all: 1, ofOne: 1, full: new Set() })
})

it('admits a workspace without slots when all are occupied, if mayExceed is set, and none once closed', () => {
  const places = createWorkspaceSlots(most, { mayExceed: true })
  for (const workspace of ['ws_a', 'ws_a', 'ws_b']) places.occupy(workspace)
  expect(places.hasSlotFor('ws_b')).toBe(false)
  expect(places.hasSlotFor('ws_c')).toBe(true)
  places.close()
  expect(places.hasSlotFor('ws_c')).toBe(false)
  expect(places.capacity().all).toBe(0)
})

it('notifies all waiters when there is more capacity', async () => {
  const places = createWorkspaceSlots(most)
  places.occupy('ws_a')
  let resolved = 0
  const waiting = [1, 2].map(() => places.waitForCapacity().then(() => resolved++))
  expect(resolved).toBe(0)
  places.free('ws_a')
  await Promise.all(waiting)
  expect(resolved).toBe(2)
})
