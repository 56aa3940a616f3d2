import { expect, it } from '@jest/globals'
import { createWorkspaceSlots } from './workspace-slots.js'

const most = { all: 3, ofOne: 2 }

it('gives so many places in all and so many to one, and says who has theirs', () => {
  const places = createWorkspaceSlots(most)
  places.take('ws_a')
  expect(places.room()).toEqual({ all: 2, ofOne: 1, full: new Set() })
  places.take('ws_a')
  expect(places.hasRoomFor('ws_a')).toBe(false)
  expect(places.hasRoomFor('ws_b')).toBe(true)
  expect(places.room()).toEqual({ all: 1, ofOne: 2, full: new Set(['ws_a']) })
  places.take('ws_b')
  expect(places.hasRoomFor('ws_c')).toBe(false)
  places.free('ws_a')
  expect(places.hasRoomFor('ws_c')).toBe(true)
  expect(places.room()).toEqual({ all: 1, ofOne: 1, full: new Set() })
})

it('lets whoever has none in where all are taken, if it may be exceeded, and nobody once it is closed', () => {
  const places = createWorkspaceSlots(most, { mayExceed: true })
  for (const workspace of ['ws_a', 'ws_a', 'ws_b']) places.take(workspace)
  expect(places.hasRoomFor('ws_b')).toBe(false)
  expect(places.hasRoomFor('ws_c')).toBe(true)
  places.close()
  expect(places.hasRoomFor('ws_c')).toBe(false)
  expect(places.room().all).toBe(0)
})

it('says when there is more room, to all who wait for it', async () => {
  const places = createWorkspaceSlots(most)
  places.take('ws_a')
  let heard = 0
  const waiting = [1, 2].map(() => places.moreRoom().then(() => heard++))
  expect(heard).toBe(0)
  places.free('ws_a')
  await Promise.all(waiting)
  expect(heard).toBe(2)
})
