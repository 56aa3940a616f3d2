import { expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { compileSchema } from './compile.js'
import { someSchema, someValue } from './random-schemas.fixture.js'

const runs = { numRuns: 120 * Number(process.env.SEARCH_TIMES ?? 1), seed: 58 }

it('agrees with Ajv on which values are valid, or reports why it rejects the schema', () => {
  const found = { valid: 0, invalid: 0, refused: 0 }
  fc.assert(
    fc.property(someSchema, fc.array(someValue, { minLength: 8, maxLength: 8 }), (schema, values) => {
      const result = compileSchema(schema, { reading: 'lenient' })
      if ('problems' in result) {
        expect(result.problems.map(({ code }) => code)).toEqual(['endless_reference'])
        found.refused++
        return
      }
      const validate = new Ajv2020({ strict: false, logger: false, ownProperties: true }).compile(schema)
      for (const value of values) {
        const faults = result.schema.check(value)
        expect([value, faults.length === 0, faults]).toEqual([value, validate(value), faults])
        found[faults.length === 0 ? 'valid' : 'invalid']++
      }
    }),
    runs,
  )
  expect(found.valid).toBeGreaterThan(runs.numRuns / 4)
  expect(found.invalid).toBeGreaterThan(runs.numRuns / 4)
  expect(found.refused).toBeGreaterThan(runs.numRuns / 200)
})

it('reports faults with existing paths in the value and in the schema', () => {
  const at = (root: unknown, pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (inner, part) =>
          Object(inner) === inner && Object.hasOwn(Object(inner), part) ? (inner as never)[part] : undefined,
        root,
      )
  fc.assert(
    fc.property(someSchema, someValue, (schema, value) => {
      const result = compileSchema(schema, { reading: 'lenient' })
      for (const { path, schemaPath, code } of 'schema' in result ? result.schema.check(value) : []) {
        const place = code === 'required' ? path.slice(0, path.lastIndexOf('/')) : path
        expect([path, at(value, place) === undefined]).toEqual([path, false])
        expect([schemaPath, at(schema, schemaPath) === undefined]).toEqual([schemaPath, false])
      }
    }),
    runs,
  )
})

it('reports no fault of a valid value when it is checked as incomplete', () => {
  fc.assert(
    fc.property(someSchema, someValue, (schema, value) => {
      const result = compileSchema(schema, { reading: 'lenient' })
      if ('problems' in result || result.schema.check(value).length > 0) return
      const partly = result.schema.check(value, { partial: true })
      const leavesNothingOpen = !/"(?:not|if|unevaluated)/.test(JSON.stringify(schema))
      if (leavesNothingOpen) expect(partly).toEqual([])
    }),
    runs,
  )
})
