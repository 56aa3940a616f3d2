import { z } from 'zod'

/** Of what apps are made of, each for what is declared and for what names it. */
export const appBounds = { name: 50, params: 50, parts: 50 } as const

/** Of a component, a data source or its parameter, as expressions name it. */
export const AppName = z
  .string()
  .max(appBounds.name)
  .regex(/^[a-z][a-zA-Z0-9_]*$/, 'must be a name such as openOrders')

/** What names a data source, a component or a parameter. */
export const AppNameReference = z.string().min(1).max(appBounds.name)
