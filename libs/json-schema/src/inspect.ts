import { iterateChildSchemas } from './applicators.js'
import type { Budget } from './budget.js'
import { keywordProblem } from './keyword-rules.js'
import type { Limits } from './options.js'
import { type Pattern, readPattern } from './pattern.js'
import { resolveReference, type Subschemas } from './references.js'
import { formatPointerStep, isObject, type JsonSchema, type Problem } from './schema.js'

/** The parts of a schema, and its problems. */
export interface SchemaInspection {
  problems: Problem[]
  subschemas: Subschemas
  /** All patterns of the schema by their source text. */
  patterns: ReadonlyMap<string, Pattern>
  /** The target pointer of each subschema with a reference. */
  targets: ReadonlyMap<string, string>
}

/** Visits each keyword of each subschema once. Throws TooCostlyError if reading the patterns takes too long. */
export function inspectSchema(root: unknown, limits: Limits, budget: Budget): SchemaInspection {
  const problems: Problem[] = []
  const subschemas = new Map<string, JsonSchema | boolean>()
  const patterns = new Map<string, Pattern>()
  const anchors = new Map<unknown, string>()
  const found = (path: string, code: string, message: string) => problems.push({ path, code, message })

  function visit(schema: unknown, pointer: string, depth: number): void {
    if (subschemas.size >= limits.maxSubschemas || problems.length >= limits.maxProblems) return
    budget.spend(1)
    if (typeof schema !== 'boolean' && !isObject(schema)) {
      found(pointer, 'invalid_schema', 'must be a schema')
      return
    }
    subschemas.set(pointer, schema)
    if (subschemas.size >= limits.maxSubschemas)
      found('', 'too_big', `must not have ${limits.maxSubschemas} subschemas or more`)
    if (typeof schema === 'boolean') return
    if (depth > limits.maxDepth) {
      found(pointer, 'too_deep', `is nested more than ${limits.maxDepth} levels deep`)
      return
    }
    if (schema.$anchor !== undefined) anchors.set(schema.$anchor, pointer)
    for (const name of Object.keys(schema)) visitKeyword(schema, name, pointer)
    for (const child of iterateChildSchemas(schema, pointer)) visit(child.schema, child.pointer, depth + 1)
  }
  function visitKeyword(schema: JsonSchema, name: string, pointer: string): void {
    const problem = keywordProblem(schema, name, limits.reading === 'strict')
    if (problem) found(pointer + problem.at, 'invalid_schema', problem.message)
    if (name === 'pattern') visitPattern(schema.pattern, `${pointer}/pattern`)
    if (name === 'patternProperties' && isObject(schema.patternProperties))
      for (const source of Object.keys(schema.patternProperties))
        visitPattern(source, `${pointer}/patternProperties${formatPointerStep(source)}`)
  }
  function visitPattern(source: unknown, at: string): void {
    if (typeof source === 'string' && patterns.has(source)) return
    const pattern = readPattern(source, budget)
    if (typeof pattern === 'string') found(at, 'invalid_schema', pattern)
    else patterns.set(String(source), pattern)
  }

  visit(root, '', 0)
  const targets = new Map<string, string>()
  for (const [pointer, schema] of subschemas) {
    if (typeof schema === 'boolean' || schema.$ref === undefined) continue
    const target = resolveReference(schema.$ref, subschemas, anchors)
    if (target === undefined)
      found(`${pointer}/$ref`, 'invalid_reference', 'must lead to a subschema of this schema')
    else targets.set(pointer, target)
  }
  return { problems: problems.slice(0, limits.maxProblems), subschemas, patterns, targets }
}
