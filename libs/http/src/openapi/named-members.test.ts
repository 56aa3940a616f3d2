import { expect, test } from '@jest/globals'
import { withNamedMembers } from './named-members.js'

const of = (value: string, more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties: { type: { type: 'string', enum: [value] }, ...more },
  required: ['type'],
})
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

test('members of a union with a discriminator become components', () => {
  const step = { oneOf: [of('for_each', { steps: { type: 'array', items: ref('Step') } }), of('stop')] }
  const { Step, StepForEach, StepStop } = withNamedMembers({ Step: step })
  expect(Step).toEqual({
    oneOf: [ref('StepForEach'), ref('StepStop')],
    discriminator: {
      propertyName: 'type',
      mapping: { for_each: ref('StepForEach').$ref, stop: ref('StepStop').$ref },
    },
  })
  expect([StepForEach, StepStop]).toEqual(step.oneOf)
})

test('members within another member, a list or a nullable union become components', () => {
  const field = { oneOf: [of('text'), of('number')] }
  const nullable = { anyOf: [of('a'), of('b'), { type: 'null' }] }
  const schemas = withNamedMembers({
    Form: { oneOf: [of('full', { fields: { type: 'array', items: field } }), of('empty')] },
    Page: { type: 'object', properties: { source_of: nullable } },
  })
  expect(Object.keys(schemas).sort()).toEqual(
    ['Form', 'FormEmpty', 'FormFull', 'FormFullFieldsItemNumber', 'FormFullFieldsItemText', 'Page'].concat(
      'PageSourceOfA',
      'PageSourceOfB',
    ),
  )
  expect(schemas.Page).toMatchObject({
    properties: {
      source_of: { anyOf: [{ oneOf: [ref('PageSourceOfA'), ref('PageSourceOfB')] }, { type: 'null' }] },
    },
  })
})

test('members without a discriminator are named after the property that only they require', () => {
  const requiring = (name: string) => ({ properties: { [name]: { type: 'integer' } }, required: [name] })
  const { Period, PeriodLast } = withNamedMembers({
    Period: { anyOf: [requiring('last'), requiring('seconds')] },
  })
  expect(Period).toEqual({ anyOf: [ref('PeriodLast'), ref('PeriodSeconds')] })
  expect(PeriodLast).toEqual(requiring('last'))
})

test('an enum becomes one component where client generators would create several types of the same name', () => {
  const status = { type: 'string', enum: ['up', 'down'] }
  const schemas = withNamedMembers({
    Filter: {
      properties: {
        status: { anyOf: [status, { type: 'array', items: { ...status, description: 'Each.' } }] },
      },
    },
    Hook: {
      properties: { retry_strategy: status, retryStrategy: { ...status, enum: ['up', 'down', null] } },
    },
  })
  expect(schemas).toEqual({
    Filter: {
      properties: {
        status: {
          anyOf: [
            ref('FilterStatusValue'),
            { type: 'array', items: { ...ref('FilterStatusValue'), description: 'Each.' } },
          ],
        },
      },
    },
    FilterStatusValue: status,
    Hook: {
      properties: {
        retry_strategy: ref('HookRetryStrategyValue'),
        retryStrategy: {
          anyOf: [ref('HookRetryStrategyValue'), { type: 'null' }],
          'x-go-name': 'RetryStrategyAlias',
        },
      },
    },
    HookRetryStrategyValue: status,
  })
})

test('a member whose name another component has is rejected', () => {
  const schemas = { Step: { oneOf: [of('stop'), of('fail')] }, StepStop: { type: 'string' } }
  expect(() => withNamedMembers(schemas)).toThrow('second component StepStop')
})

test('data that resembles a schema stays unchanged', () => {
  const example = { anyOf: [of('a'), of('b')] }
  expect(withNamedMembers({ Any: { type: 'object', example } })).toEqual({ Any: { type: 'object', example } })
})
