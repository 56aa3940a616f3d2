import type { ResolveHook } from 'node:module'

const url = new URL('./globals.js', import.meta.url).href

/** Resolves `@jest/globals` to `globals.js` in this folder. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === '@jest/globals' ? { url, shortCircuit: true } : next(specifier, context)
