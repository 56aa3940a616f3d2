import type { PackProblem } from '@opsplane/contracts'
import { type BuildFailure, build, type Message } from 'esbuild'

/** What artifacts are given by the sandbox. */
const provided = '@opsplane/sdk'

export interface Bundled {
  /** Undefined where the source is sent as it is: it imports nothing, or nothing but the types and helpers of artifacts. */
  text: string | undefined
  problems: PackProblem[]
}

/**
 * A source with all it imports from its folder and from npm, as one module for the sandbox. Modules of Node are a problem: the
 * sandbox has none.
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
