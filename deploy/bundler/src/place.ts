import { basename, dirname, join } from 'node:path'

/** Where the bundle of `<group>/<package>/dist/<entry>.js` lies: `<group>/<package>/bundle/<entry>.cjs`. */
export const toBundlePath = (entry: string): string =>
  join(dirname(dirname(entry)), 'bundle', `${basename(entry, '.js')}.cjs`)
