import { expect, test } from '@jest/globals'
import { createBusiestWorkspaces } from './busiest-workspaces.js'

/** Adds a minute of attempts, `late` of which are late, and returns the log entries. */
function logOf({ late }: { late: number }) {
  const lines: object[] = []
  let nowMs = 0
  const busiest = createBusiestWorkspaces({
    log: { warn: (fields: object) => lines.push(fields) },
    now: () => nowMs,
  })
  const attempts = { ws_a: 2, ws_b: 9, ws_c: 4, ws_d: 3 }
  let left = late
  for (const [workspaceId, count] of Object.entries(attempts))
    for (let n = 0; n < count; n++) busiest.add(workspaceId, left-- > 0 ? 10_001 : 10_000)
  expect(lines).toEqual([])
  nowMs = 60_000
  busiest.add('ws_a', 0)
  return { lines, busiest, pass: (ms: number) => (nowMs += ms) }
}

test('the workspaces with the most attempts are logged if first attempts were late', () => {
  const { lines, busiest, pass } = logOf({ late: 2 })
  const workspaces = [
    { workspaceId: 'ws_b', attempts: 9 },
    { workspaceId: 'ws_c', attempts: 4 },
    { workspaceId: 'ws_a', attempts: 3 },
  ]
  expect(lines).toEqual([{ workspaces, attempts: 19, late: 2, seconds: 60 }])
  pass(60_000)
  busiest.add('ws_b', 10_001)
  expect(lines.slice(1)).toEqual([
    { workspaces: [{ workspaceId: 'ws_b', attempts: 1 }], attempts: 1, late: 1, seconds: 60 },
  ])
})

test('no workspace is logged while all first attempts are on time', () => {
  const { lines } = logOf({ late: 0 })
  expect(lines).toEqual([])
})
