import { expect, test } from '@jest/globals'
import { ChangedSignal, maxChangedIds, natsNames } from '@opsplane/contracts'
import { createChangedSignals } from './changed-signals.js'

/** Timers of which at most one runs, and the messages published when it fires. */
function started() {
  const published: [subject: string, signal: ChangedSignal][] = []
  let running: { act: () => void; ms: number } | undefined
  const signals = createChangedSignals({
    names: natsNames('x'),
    type: 'delivery',
    publish: (subject, payload) => published.push([subject, ChangedSignal.parse(JSON.parse(payload))]),
    timers: {
      setTimeout: (act, ms) => {
        expect(running).toBeUndefined()
        running = { act, ms }
        return { unref: () => {} }
      },
      clearTimeout: () => {
        running = undefined
      },
    },
  })
  return {
    ...signals,
    waitsMs: () => running?.ms,
    /** Runs the timer and returns the messages it publishes. */
    fire() {
      const { act } = running ?? { act: () => {} }
      running = undefined
      act()
      return published.splice(0)
    },
  }
}

const production = { workspaceId: 'ws_1', environment: 'production' } as const
const staging = { workspaceId: 'ws_1', environment: 'staging' } as const

test('combines simultaneous changes into one signal for each tenant', () => {
  const { changed, fire } = started()
  for (const id of ['del_1', 'del_2', 'del_1']) changed(production, id)
  changed(staging, 'del_3')
  expect(fire()).toEqual([
    ['x.changed.ws_1.production', { type: 'delivery', ids: ['del_1', 'del_2'] }],
    ['x.changed.ws_1.staging', { type: 'delivery', ids: ['del_3'] }],
  ])
})

test('sends the next signal a second later, and stops the timer when nothing has changed meanwhile', () => {
  const { changed, fire, waitsMs } = started()
  changed(production, 'del_1')
  expect(waitsMs()).toBeLessThan(1_000)
  fire()
  changed(production, 'del_1')
  expect(waitsMs()).toBe(1_000)
  expect(fire()).toHaveLength(1)
  expect(waitsMs()).toBe(1_000)
  expect([fire(), waitsMs()]).toEqual([[], undefined])
})

test('reports with isMore that there are more than 50 ids', () => {
  const { changed, fire } = started()
  const ids = Array.from({ length: maxChangedIds }, (_, n) => `del_${n}`)
  for (const id of [...ids, 'del_0']) changed(production, id)
  expect(fire()[0]?.[1]).toEqual({ type: 'delivery', ids })
  for (const id of [...ids, 'del_50']) changed(production, id)
  expect(fire()[0]?.[1]).toEqual({ type: 'delivery', ids, isMore: true })
})

test('publishes nothing once it is closed', () => {
  const { changed, close, fire } = started()
  changed(production, 'del_1')
  close()
  expect(fire()).toEqual([])
})
