import { z } from 'zod'

/** Limits for parts of apps. The same limits apply to declarations and to references. */
export const appBounds = { name: 50, params: 50, parts: 50 } as const

/** Name of a component, a data source or a parameter, as used in expressions. */
export const AppName = z
  .string()
  .max(appBounds.name)
  .regex(/^[a-z][a-zA-Z0-9_]*$/, 'must be a name such as openOrders')

/** A reference to a data source, component or parameter by name. */
export const AppNameReference = z.string().min(1).max(appBounds.name)
