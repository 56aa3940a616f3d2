import { expect, test } from '@jest/globals'
import { computePhases } from './phases.js'

const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: null }
const shown = (timings: Partial<Record<keyof typeof none, number | null>>) =>
  computePhases({ ...none, ...timings })
    .map(({ name, ms }) => `${name} ${ms}`)
    .join(', ')

test.each([
  [
    'over a new connection',
    { dnsMs: 3, connectMs: 5, tlsMs: 20, firstByteMs: 150, totalMs: 180 },
    'dns 3, connect 5, tls 20, firstByte 150, body 2',
  ],
  ['over a kept one', { firstByteMs: 12, totalMs: 12 }, 'firstByte 12'],
  ['without an answer', { dnsMs: 1, connectMs: 4, totalMs: 1_005 }, 'dns 1, connect 4, rest 1000'],
  ['of which nothing is known', {}, ''],
])('computes the phases of an attempt %s', (_, timings, phases) => {
  expect(shown(timings)).toBe(phases)
})
