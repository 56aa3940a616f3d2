import fc from 'fast-check'
import { type GenerationOptions, generateValues } from './arbitrary.js'
import { type Operation, type Parameter, parametersIn, resolveSchema } from './document.js'
import type { Fields } from './exchange.js'
import type { FuzzResources } from './resources.js'

/** The parts of a generated request. */
export interface GeneratedRequest {
  path: Fields
  query: Fields
  headers: Record<string, string>
  body: unknown
}

const nothing = fc.constant({})

/** Requests in which every part is valid for its schema. */
export function allowedRequests(
  operation: Operation,
  options: GenerationOptions,
  world: FuzzResources,
  real: Fields,
) {
  const record = (place: 'path' | 'query') => {
    const parameters = parametersIn(operation, place)
    const values = parameters.map((each) => [each.name, parameterValues(each, options, world)] as const)
    const requiredKeys = parameters.flatMap(({ name, required }) => (required ? [name] : []))
    return fc.record(Object.fromEntries(values), { requiredKeys })
  }
  return fc.record<GeneratedRequest>({
    path: fc.oneof({ weight: 4, arbitrary: fc.constant(real) }, { weight: 1, arbitrary: record('path') }),
    query: fc.oneof(nothing, record('query')),
    headers: nothing,
    body: operation.body ? generateValues(operation.body, options) : fc.constant(undefined),
  })
}

/**
 * Valid requests in which one parameter, one field of the body, or the headers are at the limits: such a request
 * passes most checks.
 */
export function edgeRequests(
  operation: Operation,
  options: GenerationOptions,
  world: FuzzResources,
  real: Fields,
) {
  const good = (): GeneratedRequest => ({
    path: real,
    query: {},
    headers: {},
    body: world.goodBody(operation),
  })
  const { properties = {} } = operation.body ? resolveSchema(options.document, operation.body) : {}
  const bodies = Object.entries(properties).map(([name, schema]) => {
    const fixed = options.named[name]
    const values = fixed ? fc.constantFrom(...fixed) : generateValues(schema, options)
    return values.map(
      (value): GeneratedRequest => ({ ...good(), body: { ...(good().body as Fields), [name]: value } }),
    )
  })
  const parameters = (['query', 'path'] as const).flatMap((place) =>
    parametersIn(operation, place).map((each) =>
      parameterValues(each, options, world).map((value): GeneratedRequest => {
        const made = good()
        return { ...made, [place]: { ...made[place], [each.name]: value } }
      }),
    ),
  )
  const headers = headerEdges.map((values): GeneratedRequest => ({ ...good(), headers: values }))
  return fc.oneof(...bodies, ...parameters, headers)
}

const ifMatch = [
  '*',
  '""',
  '"0"',
  '"1"',
  'W/"1"',
  '1',
  '"-1"',
  '"1e3"',
  '"1", "2"',
  'x',
  `"${'9'.repeat(30)}"`,
]
const keys = ['k', ' k ', 'k k', 'same key', '"', 'k'.repeat(255), 'k'.repeat(256)]
const headerEdges = fc.record(
  {
    'if-match': fc.constantFrom(...ifMatch),
    'idempotency-key': fc.constantFrom(...keys),
    'x-environment': fc.constantFrom('production', 'staging', 'development', 'Production'),
    range: fc.constantFrom('bytes=0-1', 'bytes=9999999-', 'bytes=-1', 'bytes'),
    'if-unmodified-since': fc.constantFrom('Thu, 01 Jan 1970 00:00:00 GMT', 'never'),
    accept: fc.constantFrom('text/html', 'application/xml;q=0.1', '*'),
    'x-http-method-override': fc.constant('DELETE'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>

/** The boundary value of a cursor is the cursor of another list. */
function parameterValues(
  { name, schema }: Parameter,
  options: GenerationOptions,
  world: FuzzResources,
): fc.Arbitrary<unknown> {
  if (name === 'timeout') return fc.constantFrom(0, 20)
  const values = generateValues(schema, options)
  return name === 'after' ? fc.oneof(values, fc.constantFrom(...world.cursors)) : values
}
