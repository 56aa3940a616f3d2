import { basename, dirname, join } from 'node:path'

/** Path of the bundle of `<group>/<package>/dist/<entry>.js`: `<group>/<package>/bundle/<entry>.cjs`. */
export const toBundlePath = (entry: string): string =>
  join(dirname(dirname(entry)), 'bundle', `${basename(entry, '.js')}.cjs`)
