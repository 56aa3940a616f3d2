import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { needsSpreads, withSpreads } from './object-spreads.js'

const ownUrl = /\bimport\.meta\.url\b/g
const ownRequire = /^const require = createRequire\(import\.meta\.url\);$/m
const ownPath = /\b__(dirname|filename)\b/
const declaredPath = /\b(const|let|var)\s+__(dirname|filename)\b/
const strict = /^\s*((\/\/.*|\/\*[\s\S]*?\*\/)\s*)*(['"])use strict\3/
const packages = /[\\/]node_modules[\\/]/

/** Code at the start of a bundle, which lies three folders below the root: makes paths of those below the root. */
export const pathsBanner =
  'const __atRoot = (path) => require("node:path").join(__dirname, "../../..", path);'

/**
 * Reads the modules of a bundle. They go on finding what lies next to them (migrations, pages, workers, WebAssembly): what
 * they know of their own place stays true. Native addons are loaded from where they are. Spreads of object literals are
 * rewritten here, once for all bundles a module is in.
 */
export function readModules(root: string): Plugin {
  const atRoot = (file: string) => `__atRoot(${JSON.stringify(relative(root, file))})`
  const urlOf = (file: string) => `require("node:url").pathToFileURL(${atRoot(file)}).href`
  return {
    name: 'modules',
    setup(build) {
      build.onLoad({ filter: /\.node$/ }, ({ path }) => ({
        contents: `module.exports = require(${atRoot(path)})`,
      }))
      build.onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
        const text = rewrite(path, await readFile(path, 'utf8'))
        // With this gone, what is required by name becomes part of the bundle, still run when it is first required.
        const contents = text.replace(ownRequire, '').replace(ownUrl, () => urlOf(path))
        if (!packages.test(path)) return { contents }
        const paths = `const __filename = ${atRoot(path)}, __dirname = ${atRoot(dirname(path))};`
        const before = ownPath.test(text) && !declaredPath.test(text) ? paths : ''
        const directive = before && strict.test(text) ? '"use strict";' : ''
        return { contents: `${directive}${before}${contents}` }
      })
    },
  }
}

/** What was rewritten, by path: `npm run dev` bundles the same modules after each change, most of which are as they were. */
const rewritten = new Map<string, { from: string; to: string }>()

function rewrite(path: string, text: string): string {
  if (!needsSpreads) return text
  const before = rewritten.get(path)
  if (before?.from === text) return before.to
  const to = withSpreads(text)
  rewritten.set(path, { from: text, to })
  return to
}
