export { TooCostlyError } from './budget.js'
export { type CompiledSchema, compileSchema } from './compile.js'

export { type Fault, formatPointerStep, isObject, type JsonSchema, type Problem } from './schema.js'
