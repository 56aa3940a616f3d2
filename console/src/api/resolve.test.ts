import { expect, test } from '@jest/globals'
import { isReference, isRequestId, toApiAddress } from './resolve.js'

test.each([
  ['evt_01JHMZ5Q8R3V7W9XABCDEFGHJK', true],
  ['exec_01JHMZ5Q8R3V7W9XABCDEFGHJK', true],
  ['INC-12', true],
  ['inc-12', false],
  ['evt_01JHMZ5Q8R3V7W9X', false],
  ['Failed now', false],
])('%s is recognized as the reference of a resource: %s', (text, is) => {
  expect(isReference(text)).toBe(is)
})

test.each([
  ['req_01JHMZ5Q8R3V7W9XABCDEFGHJK', true],
  ['deploy-4711', true],
  ['INC-12', false],
  ['disk full on db', false],
])('%s is recognized as a possible request id: %s', (text, is) => {
  expect(isRequestId(text)).toBe(is)
})

test('a path below the API is prefixed with /api/v1, and any other path stays unchanged', () => {
  expect(toApiAddress('/webhooks/wh_1')).toBe('/api/v1/webhooks/wh_1')
  expect(toApiAddress('/api/service-sdk/executions/exec_1')).toBe('/api/service-sdk/executions/exec_1')
})
