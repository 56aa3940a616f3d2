import type { PackProblem } from '@opsplane/contracts'
import { type BuildFailure, build, type Message } from 'esbuild'

/** The module that the sandbox provides to artifacts. */
const provided = '@opsplane/sdk'

export interface Bundled {
  /** `undefined` if the source is sent unchanged: it imports nothing, or only `@opsplane/sdk`. */
  text: string | undefined
  problems: PackProblem[]
}

/**
 * Bundles a source with its imports from the folder and from npm into one module for the sandbox. An import of a Node
 * module is reported as a problem, because the sandbox has none.
 */
export async function bundleSource(folder: string, source: string): Promise<Bundled> {
  try {
    const { outputFiles, metafile } = await build({
      ...{ absWorkingDir: folder, entryPoints: [source], outfile: 'bundle.js', write: false },
      ...{ bundle: true, format: 'esm', platform: 'neutral', target: 'es2022', logLevel: 'silent' },
      ...{ mainFields: ['module', 'main'], conditions: ['import', 'default'], external: [provided] },
      metafile: true,
    })
    const alone = Object.keys(metafile.inputs).length === 1
    return { text: alone ? undefined : outputFiles[0]?.text, problems: [] }
  } catch (error) {
    if (!isBuildFailure(error)) throw error
    return { text: undefined, problems: error.errors.map((message) => problemOf(message, source)) }
  }
}

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors)

const problemOf = ({ text, location }: Message, source: string): PackProblem => ({
  ...{ file: location?.file ?? source, path: '', code: 'bundle_error' },
  ...{ line: location?.line ?? null, column: location ? location.column + 1 : null },
  message:
    /^Could not resolve "node:|^Could not resolve "(fs|path|http|https|crypto|os|net|child_process)"/.test(
      text,
    )
      ? `${text}: the sandbox has no modules of Node`
      : text,
})
