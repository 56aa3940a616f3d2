import { expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkEnforceable } from './enforceable.js'
import { faultsOf } from './faults.js'
import { randomSchemas } from './random-schemas.fixture.js'

/** All that bind a value and are told of by themselves. */
const keywords = [
  ...['type', 'enum', 'const', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'multipleOf'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'uniqueItems', 'required'],
  ...['dependentRequired', 'additionalProperties', 'anyOf', 'oneOf', 'not'],
]
/** Without the place within lists of names, and in the terms of either implementation. */
const keywordAt = (schemaPath: string) =>
  schemaPath
    .replace(/\/required\/\d+$/, '/required')
    .replace(/\/dependentRequired\/\w+\/\d+$/, '/dependentRequired')

it('finds wrong what another implementation finds wrong, and says so of the same keywords', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  const random = randomSchemas(5)
  const found = { valid: 0, invalid: 0 }
  const differing: object[] = []
  const broken = new Set<string | undefined>()
  for (let round = 0; round < 100; round++) {
    const schema = random.schema()
    checkEnforceable(schema, { path: '', form: false })
    const validate = ajv.compile(schema)
    for (let times = 0; times < 20; times++) {
      const value = random.valueFor(schema)
      const places = faultsOf(schema, value, { path: '' }).map(({ schemaPath }) => keywordAt(schemaPath))
      if (validate(value) !== (places.length === 0)) differing.push({ schema, value, places })
      found[places.length === 0 ? 'valid' : 'invalid']++
      for (const place of places) broken.add(place.split('/').at(-1))
      const theirs = (validate.errors ?? []).map(({ schemaPath }) =>
        schemaPath.replace(/\/false schema$/, ''),
      )
      // The other one does not look for repeated items where items are wrong by themselves.
      const missing = places.filter((at) => !theirs.includes(`#${at}`) && !at.endsWith('/uniqueItems'))
      if (missing.length > 0) differing.push({ schema, value, missing })
    }
  }
  expect(differing).toEqual([])
  expect(found.valid).toBeGreaterThan(200)
  expect(found.invalid).toBeGreaterThan(200)
  expect(keywords.filter((keyword) => !broken.has(keyword))).toEqual([])
})
