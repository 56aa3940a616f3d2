export { TooCostlyError } from './budget.js'
export { type Compilation, type CompiledSchema, compileSchema } from './compile.js'
export type { SchemaOptions } from './options.js'
export { type Fault, formatPointerStep, isObject, type JsonSchema, type Problem } from './schema.js'
