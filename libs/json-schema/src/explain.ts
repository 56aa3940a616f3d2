import type { OutputUnit, Schema } from '@cfworker/json-schema'
import { applicators } from './applicators.js'
import { leafFaults } from './leaf-faults.js'
import type { PreparedSchema } from './prepared-schema.js'
import { type Fault, parsePointer } from './schema.js'

/** Keywords that only report that a subschema does not match; its own errors follow, or appear separately. */
const umbrellas = new Set([
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'items', 'if'],
  ...['prefixItems', 'unevaluatedItems', 'allOf', '$ref', 'dependentSchemas', 'propertyNames'],
])

const maxNested = 200

/** A position in a prepared schema. */
interface Located {
  node: Schema | boolean
  /** Pointer to the corresponding node of the original schema. */
  pointer: string
  /** The keyword of the original schema that the node's keyword replaces. */
  alias: string | undefined
  /** Errors below are not faults of the value: an item does not have to match `contains`. */
  isAside: boolean
  /** Errors below concern a property name. */
  ofName: boolean
}

/** Converts the validator's errors to our faults, reduced to those that the author of the value has to fix. */
export function explain(
  units: readonly OutputUnit[],
  prepared: PreparedSchema,
  value: unknown,
  maxFaults: number,
): Fault[] {
  const faults: Fault[] = []
  const reported = new Set<string>()
  const located = locator(prepared)

  for (let at = 0; at < units.length && faults.length < maxFaults; at++) {
    const unit = units[at]
    if (unit === undefined || umbrellas.has(unit.keyword)) continue
    const place = located(schemaLocation(unit))
    const path = unit.instanceLocation.slice(1)
    if (unit.keyword === 'anyOf' || unit.keyword === 'oneOf') {
      const nested = nestedIn(units, at)
      at += nested.length
      if (!place.isAside) faults.push(...choiceFaults(unit, nested, place, path))
      continue
    }
    // The validator reports each missing property separately, but names it only in the message, so duplicates are merged.
    const once = `${unit.keyword} ${place.pointer} ${path}`
    if (place.isAside || reported.has(once)) continue
    reported.add(once)
    if (place.ofName) faults.push(nameFault(place, path))
    else faults.push(...leafFaults(place, { keyword: unit.keyword, path }, value))
  }
  return [...faults.filter((one) => !isOfChoice(one)), ...faults.filter(isOfChoice)].slice(0, maxFaults)

  /** Faults of the intended alternative, if it can be determined. */
  function choiceFaults(unit: OutputUnit, nested: OutputUnit[], place: Located, path: string): Fault[] {
    const keyword = place.alias ?? unit.keyword
    const schemaPath = `${place.pointer}/${keyword}`
    const alternatives = typeof place.node === 'object' ? (place.node[unit.keyword] ?? []) : []
    const trials = (alternatives as unknown[]).map((): OutputUnit[] => [])
    const begin = unit.keywordLocation.length + 1
    for (const one of nested) trials[Number.parseInt(one.keywordLocation.slice(begin), 10)]?.push(one)
    const none = { path, schemaPath, code: 'invalid_union' }
    if (trials.some((trial) => trial.length === 0))
      return [{ ...none, message: 'fits more than one of the alternatives' }]
    // With more errors than this, the intended alternative cannot be determined.
    if (nested.length > maxNested) return [{ ...none, message: 'fits none of the alternatives' }]
    const intendedFaults = findIntendedFaults(
      trials.map((trial) => explain(trial, prepared, value, maxFaults)),
      path,
    )
    return intendedFaults ?? [{ ...none, message: 'fits none of the alternatives' }]
  }
}

/** Faults of alternatives come last: fixing the others often fixes them as well. */
const isOfChoice = ({ schemaPath }: Fault) => /\/(?:anyOf|oneOf|allOf|not|then|else)(?:\/|$)/.test(schemaPath)

/** Faults of the single alternative that the value's type, or its `const` and `enum` properties, do not rule out. */
function findIntendedFaults(trials: readonly Fault[][], path: string): Fault[] | undefined {
  const rulesOut = (fault: Fault) =>
    /\/(?:const|enum)$/.test(fault.schemaPath)
      ? !fault.path.slice(path.length + 1).includes('/')
      : fault.path === path && fault.schemaPath.endsWith('/type')
  const [meant, ...others] = trials.filter((faults) => !faults.some(rulesOut))
  return others.length === 0 ? meant : undefined
}

/** The errors after an `anyOf` or `oneOf` error that belong to its alternatives. */
function nestedIn(units: readonly OutputUnit[], at: number): OutputUnit[] {
  const begin = `${units[at]?.keywordLocation}/`
  let end = at + 1
  while (units[end]?.keywordLocation.startsWith(begin)) end++
  return units.slice(at + 1, end)
}

/** Location of the schema that contains the keyword of an error. */
const schemaLocation = ({ keyword, keywordLocation }: OutputUnit) =>
  keyword === 'false' ? keywordLocation : keywordLocation.slice(0, keywordLocation.lastIndexOf('/'))

const nameFault = ({ pointer }: Located, path: string): Fault => ({
  path,
  schemaPath: pointer,
  code: 'invalid_key',
  message: 'has a name that is not allowed',
})

function locator({ root, lookup, origins }: PreparedSchema) {
  const known = new Map<string, Located>()

  function locate(location: string): Located {
    const parts = parsePointer(location)
    let place: Located = { ...at(root, ''), isAside: false, ofName: false }
    while (parts.length > 0 && typeof place.node === 'object') {
      const keyword = parts.shift() ?? ''
      const isAside = place.isAside || keyword === 'contains'
      const ofName = place.ofName || keyword === 'propertyNames'
      place = { ...below(place, keyword, parts), isAside, ofName }
    }
    return place
  }
  function at(node: Schema | boolean, pointer: string) {
    const origin = origins.get(node)
    return { node, pointer: origin?.pointer ?? pointer, alias: origin?.keyword }
  }
  function below({ node, pointer, alias }: Located, keyword: string, parts: string[]) {
    const schema = node as Schema
    if (keyword === '$ref') return at(lookup[schema.$ref ?? ''] ?? false, pointer)
    const there = `${pointer}/${alias ?? keyword}`
    if (applicators.get(keyword) === 'one') return at(schema[keyword], there)
    const name = parts.shift() ?? ''
    return at(schema[keyword][name], `${there}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
  return (location: string): Located => {
    const place = known.get(location) ?? locate(location)
    known.set(location, place)
    return place
  }
}
