import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { PackProblem } from '@opsplane/contracts'

/** Path of the declarations of host functions that this CLI includes. */
export const readDeclarations = (): string =>
  createRequire(import.meta.url)
    .resolve('@opsplane/sdk')
    .replace(/\.js$/, '.d.ts')

/** Type errors that TypeScript finds in the sources; `undefined` if TypeScript is not installed for the pack. */
export async function findTypeProblems(
  folder: string,
  sources: readonly string[],
): Promise<PackProblem[] | undefined> {
  const compiler = compilerOf(folder)
  if (compiler === undefined) return undefined
  const place = mkdtempSync(join(tmpdir(), 'opsplane-types-'))
  try {
    const project = join(place, 'tsconfig.json')
    writeFileSync(project, JSON.stringify(projectOf(folder, sources)))
    return problemsIn(await outputOf(compiler, project, folder), folder)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function compilerOf(folder: string): string | undefined {
  try {
    const manifest = createRequire(join(resolve(folder), 'package.json')).resolve('typescript/package.json')
    return join(manifest, '..', 'bin', 'tsc')
  } catch {
    return undefined
  }
}

/** The `tsconfig.json` of the pack, if it has one, with the settings that the sandbox requires. */
function projectOf(folder: string, sources: readonly string[]) {
  const own = resolve(folder, 'tsconfig.json')
  return {
    ...(existsSync(own) && { extends: own }),
    compilerOptions: {
      ...(!existsSync(own) && { strict: true }),
      ...{ target: 'es2022', lib: ['es2022'], module: 'esnext', moduleResolution: 'bundler' },
      ...{ noEmit: true, composite: false, incremental: false, allowJs: true, types: [], skipLibCheck: true },
      paths: { '@opsplane/sdk': [readDeclarations()] },
    },
    files: sources.map((source) => resolve(folder, source)),
    include: [],
  }
}

async function outputOf(compiler: string, project: string, folder: string): Promise<string> {
  const child = spawn(process.execPath, [compiler, '-p', project, '--pretty', 'false'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return text(child.stdout)
}

const line = /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/gm

const problemsIn = (output: string, folder: string): PackProblem[] =>
  [...output.matchAll(line)].map(([, file = '', row, column, code = '', message = '']) => ({
    ...{ file: relative(folder, resolve(folder, file)), path: '', code, message },
    ...{ line: Number(row), column: Number(column) },
  }))
