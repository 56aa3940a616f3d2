import { createRequire } from 'node:module'

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)
let loaded: Undici | undefined

/** The library, loaded with the first request: loading it takes 80 ms of CPU, an eighth of a service's startup. */
export function undici(): Undici {
  loaded ??= require('undici') as Undici
  return loaded
}
