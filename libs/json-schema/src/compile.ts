import { type Budget, createBudget, TooCostlyError } from './budget.js'
import { type Cost, computeCosts } from './costs.js'
import { applyDefaults } from './defaults.js'
import { evaluate } from './evaluate.js'
import { explain } from './explain.js'
import { inspectSchema, type SchemaInspection } from './inspect.js'
import { measureJsonValue } from './json-values.js'
import { applyDefaultLimits, type Limits, type SchemaOptions } from './options.js'
import { type PreparedSchema, prepareSchema } from './prepared-schema.js'
import type { Fault, Problem } from './schema.js'

/** A schema that can validate any value in bounded time. */
export interface CompiledSchema {
  /**
   * Returns all faults of a value; `[]` if it is valid. The code is `too_costly` if the check would take too long. A
   * `partial` value is not complete yet: required properties may be missing, and later properties may decide between
   * alternatives.
   */
  check(value: unknown, options?: { partial?: boolean }): Fault[]
  /** Returns a copy in which absent properties have their `default`. Throws TooCostlyError. */
  withDefaults(value: unknown): unknown
}

type Compilation = { schema: CompiledSchema } | { problems: Problem[] }

/**
 * Maximum recursion depth: references are followed recursively for each level of a value. The stack has room for this
 * depth.
 */
const maxCalls = 1_500

/**
 * Compiles a schema of draft 2020-12, or returns its problems. References may only point to subschemas of the same
 * document; patterns are matched in linear time; every check ends in bounded time, whatever the schema and the value
 * are.
 */
export function compileSchema(schema: unknown, options: SchemaOptions = {}): Compilation {
  const limits = applyDefaultLimits(options)
  try {
    const budget = createBudget(2 * limits.maxSteps, 'It is too large, with its patterns read.')
    return compile(schema, limits, budget)
  } catch (error) {
    if (error instanceof TooCostlyError) return { problems: [tooCostly(error)] }
    throw error
  }
}

function compile(input: unknown, limits: Limits, budget: Budget): Compilation {
  const measured = measureJsonValue(input, budget)
  if ('path' in measured) return { problems: [measured] }
  if (measured.bytes > limits.maxBytes)
    return { problems: [{ path: '', code: 'too_big', message: `must be at most ${limits.maxBytes} bytes` }] }
  const inspected = inspectSchema(structuredClone(input), limits, budget)
  if (inspected.problems.length > 0) return { problems: inspected.problems }
  const cost = computeCosts(inspected, limits)
  if ('path' in cost) return { problems: [cost] }
  const compiled = compiledSchema(inspected, cost, limits)
  const problems = limits.reading === 'strict' ? defaultProblems(inspected, cost, limits, budget) : []
  return problems.length > 0 ? { problems } : { schema: compiled }
}

function compiledSchema(inspected: SchemaInspection, cost: Cost, limits: Limits): CompiledSchema {
  const { closed } = limits
  const prepared = new Map<boolean, PreparedSchema>()
  const preparedFor = (partial: boolean) => {
    const found = prepared.get(partial) ?? prepareSchema(inspected, { closed, partial }, '')
    prepared.set(partial, found)
    return found
  }
  return {
    check(value, { partial = false } = {}) {
      const budget = createBudget(limits.maxSteps, 'It is too large to be held against this schema.')
      return faultsOf(preparedFor(partial), value, { inspected, cost, limits, budget })
    },
    withDefaults(value) {
      return applyDefaults(
        inspected,
        value,
        createBudget(limits.maxSteps, 'It is too large to be filled in.'),
      )
    },
  }
}

interface Checking {
  inspected: SchemaInspection
  cost: Cost
  limits: Limits
  budget: Budget
}

function faultsOf(
  prepared: PreparedSchema,
  value: unknown,
  { inspected, cost, limits, budget }: Checking,
): Fault[] {
  try {
    const measured = measureJsonValue(value, budget)
    if ('path' in measured) return [{ ...measured, schemaPath: '' }]
    if ((measured.depth + 1) * cost.depth > maxCalls)
      throw new TooCostlyError('It is nested too deeply to be held against this schema.')
    const units = evaluate(prepared, value, { patterns: inspected.patterns, measured, budget })
    return explain(units, prepared, value, limits.maxProblems)
  } catch (error) {
    if (error instanceof TooCostlyError) return [{ ...tooCostly(error), schemaPath: '' }]
    throw error
  }
}

/** Reports defaults that do not match their own schema: a value without the property would be rejected. */
function defaultProblems(inspected: SchemaInspection, cost: Cost, limits: Limits, budget: Budget): Problem[] {
  const manner = { closed: limits.closed, partial: false }
  return [...inspected.subschemas].flatMap(([pointer, schema]) => {
    if (typeof schema !== 'object' || schema.default === undefined) return []
    const prepared = prepareSchema(inspected, manner, pointer)
    return faultsOf(prepared, schema.default, { inspected, cost, limits, budget }).map(
      ({ path, message }): Problem => ({
        path: `${pointer}/default${path}`,
        code: 'invalid_default',
        message: `does not fit: it ${message}`,
      }),
    )
  })
}

const tooCostly = ({ message }: TooCostlyError): Problem => ({ path: '', code: 'too_costly', message })
