import { canonicalJson } from '@opsplane/contracts'

export type Schema = Record<string, unknown>
export type Schemas = Record<string, Schema>

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Where a schema stands, and what becomes of those that get a name. */
interface Place {
  /** What is named after it. */
  name: string
  /** Of an enum there, where generators would make a type of one name of several. */
  enumName?: string
  add(name: string, schema: Schema): void
}

/**
 * Components in which each member of a choice of objects is a component of its own. Where the value of one property decides, the
 * member is named after it and a `discriminator` maps it: `Step` with the type `http` is `StepHttp`. Else it is named after the
 * first property it alone requires: `KpiPeriod` with `last` is `KpiPeriodLast`. So is an enum within any other choice, or of
 * properties whose names differ in their case only. Generators of clients make a type of each component, and some none of a choice
 * that contains itself otherwise. Throws where a different component has the name.
 */
export function withNamedMembers(schemas: Schemas): Schemas {
  const named: Schemas = {}
  const left = Object.entries(schemas)
  const add = (name: string, schema: Schema): void => {
    const present = added.get(name) ?? schemas[name]
    if (present !== undefined && canonicalJson(present) !== canonicalJson(schema))
      throw new Error(`a part of a schema would be a second component ${name}: rename one`)
    if (present === undefined) left.push([name, schema])
    added.set(name, schema)
  }
  const added = new Map<string, Schema>()
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const [name, schema] = next
    named[name] = rewritten(schema, { name, add }) as Schema
  }
  return named
}

function rewritten(part: unknown, place: Place): unknown {
  if (!isSchema(part)) return part
  if (place.enumName !== undefined && Array.isArray(part.enum)) return enumOf(part, place.enumName, place)
  const members = membersOf(part)
  if (members !== undefined) return choiceOf(part, members, place)
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, rewrittenKeyword(key, value, place)]),
  )
}

/** Of the keywords that hold schemas; what the others hold may look like one. */
function rewrittenKeyword(key: string, value: unknown, place: Place): unknown {
  const { name, enumName } = place
  if (key === 'items' || key === 'additionalProperties')
    return rewritten(value, { ...place, name: `${name}Item` })
  if (key === 'properties' && isSchema(value)) return rewrittenProperties(value, place)
  if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(value))
    return value.map((each) => rewritten(each, { ...place, enumName: enumName ?? `${name}Value` }))
  return value
}

function rewrittenProperties(properties: Schema, { name, enumName, add }: Place): Schema {
  const seen = new Set<string>()
  const names = Object.keys(properties).map(pascal)
  const isRepeated = (property: string) => names.filter((each) => each === pascal(property)).length > 1
  return Object.fromEntries(
    Object.entries(properties).map(([property, each]) => {
      const own = name + pascal(property)
      const isNamed = enumName !== undefined || isRepeated(property)
      const schema = rewritten(each, { name: own, add, ...(isNamed && { enumName: `${own}Value` }) })
      const isSecond = seen.has(pascal(property))
      seen.add(pascal(property))
      // Go has one field of the name.
      return [
        property,
        isSecond && isSchema(schema) ? { ...schema, 'x-go-name': `${pascal(property)}Alias` } : schema,
      ]
    }),
  )
}

function enumOf(part: Schema, name: string, { add }: Place): Schema {
  const { type, enum: values, 'x-enum-varnames': names, ...annotations } = part
  const present = (values as unknown[]).filter((value) => value !== null)
  const types = [type].flat().filter((each) => each !== 'null')
  add(name, {
    type: types.length === 1 ? types[0] : types,
    enum: present,
    ...(names !== undefined && { 'x-enum-varnames': names }),
  })
  if (present.length === (values as unknown[]).length) return { ...refTo(name), ...annotations }
  return { anyOf: [refTo(name), { type: 'null' }], ...annotations }
}

interface Members {
  /** Undefined where no value of one decides. */
  property: string | undefined
  /** By what they are named after. */
  schemas: Map<string, Schema>
  isNullable: boolean
}

function choiceOf(part: Schema, members: Members, { name, add }: Place): Schema {
  const { property, schemas, isNullable } = members
  const references = new Map(
    [...schemas].map(([value, schema]) => {
      const member = name + pascal(value)
      add(member, schema)
      return [value, refTo(member)]
    }),
  )
  const mapping = Object.fromEntries([...references].map(([value, { $ref }]) => [value, $ref]))
  const { oneOf, anyOf: _anyOf, ...others } = part
  const choice = {
    [oneOf || property ? 'oneOf' : 'anyOf']: [...references.values()],
    ...(property && { discriminator: { propertyName: property, mapping } }),
  }
  return isNullable ? { anyOf: [choice, { type: 'null' }], ...others } : { ...choice, ...others }
}

/** Undefined where it is not a choice of objects only, or nothing distinguishes them. */
function membersOf(part: Schema): Members | undefined {
  const choice: unknown = part.oneOf ?? part.anyOf
  if (!Array.isArray(choice)) return undefined
  const objects = choice.filter((each) => isSchema(each) && each.type !== 'null')
  if (objects.length < 2 || !objects.every(isObject)) return undefined
  const isNullable = objects.length < choice.length
  for (const property of Object.keys(objects[0]?.properties ?? {})) {
    const schemas = byName(objects, (each) => onlyValue(each, property))
    if (schemas) return { property, schemas, isNullable }
  }
  const alone = byName(objects, (each) =>
    each.required?.find((property) =>
      objects.every((other) => other === each || !(property in other.properties)),
    ),
  )
  return alone && { property: undefined, schemas: alone, isNullable }
}

/** Undefined where one has no name, or the name of another. */
function byName(objects: ObjectSchema[], nameOf: (schema: ObjectSchema) => string | undefined) {
  const named = objects.flatMap((each) => {
    const name = nameOf(each)
    return name === undefined ? [] : [[name, each] as const]
  })
  const schemas = new Map(named)
  return schemas.size === objects.length ? schemas : undefined
}

type ObjectSchema = Schema & { properties: Schema; required?: string[] }
const isObject = (schema: Schema): schema is ObjectSchema => isSchema(schema.properties)

function onlyValue({ properties, required }: ObjectSchema, property: string): string | undefined {
  const { [property]: schema } = properties
  if (!isSchema(schema) || !Array.isArray(schema.enum) || schema.enum.length !== 1) return undefined
  return required?.includes(property) && typeof schema.enum[0] === 'string' ? schema.enum[0] : undefined
}

const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
