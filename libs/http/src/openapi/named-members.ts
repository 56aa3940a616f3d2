import { canonicalJson } from '@opsplane/contracts'

export type Schema = Record<string, unknown>
export type Schemas = Record<string, Schema>

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Position of a schema, and what to do with parts that get a name. */
interface Place {
  /** Name from which the names of parts are derived. */
  name: string
  /** Name for an enum at this position, where generators would otherwise create one type name for several enums. */
  enumName?: string
  add(name: string, schema: Schema): void
}

/**
 * Makes each member of a union of objects a separate component. If one property's value identifies the member, the
 * member is named after it and a `discriminator` maps it: `Step` with the type `http` becomes `StepHttp`. Otherwise it
 * is named after the first property that only this member requires: `KpiPeriod` with `last` becomes `KpiPeriodLast`.
 * An enum within any other union, or of properties whose names differ only in case, becomes a component too. Client
 * generators create a type for each component; some create none for a union that contains itself otherwise. Throws if
 * a different component has the name.
 */
export function withNamedMembers(schemas: Schemas): Schemas {
  const result: Schemas = {}
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
    result[name] = rewritten(schema, { name, add }) as Schema
  }
  return result
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

/** Only rewrites keywords that contain schemas; values of other keywords may look like schemas. */
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
      // Go would have two fields of the same name.
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
  /** `undefined` if no property's value identifies the member. */
  property: string | undefined
  /** By the value or property they are named after. */
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

/** `undefined` if it is not a union of objects only, or if nothing distinguishes them. */
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

/** `undefined` if a member has no name, or the name of another one. */
function byName(objects: ObjectSchema[], nameOf: (schema: ObjectSchema) => string | undefined) {
  const entries = objects.flatMap((each) => {
    const name = nameOf(each)
    return name === undefined ? [] : [[name, each] as const]
  })
  const schemas = new Map(entries)
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
