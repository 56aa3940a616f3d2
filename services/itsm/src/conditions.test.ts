import { expect, it } from '@jest/globals'
import { ChangeState, type Filter, IncidentState } from '@opsplane/contracts'
import { checkConditions } from './conditions.js'

it.each([
  {},
  { risk: 'high', type: { in: ['normal', 'emergency'] } },
  { assigneeId: null, 'requester.type': 'user', 'approvalPolicy.name': 'Board' },
  { ciIds: { contains: 'ci_1' }, title: { starts_with: 'Disks' }, successProbability: { lt: 70 } },
])('accepts conditions that a change can meet: %j', (conditions: Filter) => {
  expect(() => checkConditions(conditions, ChangeState)).not.toThrow()
})

it.each<[Filter, string, string]>([
  [{ impct: 'high' }, '/conditions/impct', 'unknown_field'],
  [{ 'requestor.type': 'user' }, '/conditions/requestor.type', 'unknown_field'],
  [{ toString: { exists: true } }, '/conditions/toString', 'unknown_field'],
  [{ 'data/risk': 'high' }, '/conditions/data~1risk', 'unknown_field'],
  [{ severity: 'high' }, '/conditions/severity', 'unknown_field'],
  [{ risk: 'hihg' }, '/conditions/risk', 'impossible_value'],
  [{ type: { in: ['normal', 'urgent'] } }, '/conditions/type', 'impossible_value'],
  [{ risk: null }, '/conditions/risk', 'impossible_value'],
  [{ ciIds: 'ci_1' }, '/conditions/ciIds', 'impossible_value'],
])('rejects conditions that no change can meet: %j', (conditions, path, code) => {
  const refused = expect.objectContaining({
    code: 'validation_failed',
    details: [expect.objectContaining({ path, code })],
  })
  expect(() => checkConditions(conditions, ChangeState)).toThrow(refused)
})

it('checks conditions against the schema of the given record type', () => {
  expect(() => checkConditions({ severity: 'high' }, IncidentState)).not.toThrow()
  expect(() => checkConditions({ risk: 'high' }, IncidentState)).toThrow('There is no field risk.')
})
