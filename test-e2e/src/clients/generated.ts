import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { OpenApi } from '../fuzz/document.js'
import { typescriptCalls } from './typescript-calls.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const sources = join(root, 'test-e2e/clients')
/** Cache of installed generators. */
const cache = join(root, '.opsplane/client-tools')

/** The generators that `docs/clients.md` names. */
export const generators = {
  python: ['openapi-python-client==0.29.1'],
  go: ['github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'],
  typescript: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
}

/** A call in the format that the programs of `test-e2e/clients` read. */
export interface ClientCall {
  operation: string
  url: string
  token: string
  /** Values of the path parameters, in the order of the path. */
  path: string[]
  params: Partial<Record<'path' | 'query' | 'header', Record<string, unknown>>>
  body?: unknown
  file?: string
  media?: string
}

export type Called = { status: number; error?: undefined } | { status?: undefined; error: string }

/** A generated client that makes the requested calls one after the other. */
export interface GeneratedClient {
  call(call: ClientCall): Promise<Called>
  stop(): void
}

/**
 * Generates a client from a document into a folder, compiles it, and starts it. Throws with the output of the tools
 * if one fails.
 */
export const clientMakers: Record<
  keyof typeof generators,
  (document: string, folder: string) => GeneratedClient
> = {
  python(document, folder) {
    const tools = join(cache, 'python')
    if (!existsSync(join(tools, 'bin/openapi-python-client'))) {
      run('python3', ['-m', 'venv', tools], root)
      run(join(tools, 'bin/pip'), ['install', '--quiet', ...generators.python], root)
    }
    const config = join(sources, 'python.yaml')
    const to = join(folder, 'opsplane_client')
    const args = ['generate', '--path', document, '--meta', 'none', '--config', config, '--output-path', to]
    run(join(tools, 'bin/openapi-python-client'), [...args, '--fail-on-warning'], folder)
    run(join(tools, 'bin/python'), ['-m', 'compileall', '-q', to], folder)
    copyFileSync(join(sources, 'drive.py'), join(folder, 'drive.py'))
    return driven(join(tools, 'bin/python'), ['drive.py'], folder)
  },
  go(document, folder) {
    mkdirSync(join(folder, 'api'), { recursive: true })
    copyFileSync(join(sources, 'drive.go'), join(folder, 'drive.go'))
    writeFileSync(join(folder, 'go.mod'), 'module example.com/clients\n\ngo 1.25\n')
    run('go', ['run', ...generators.go, '-config', join(sources, 'go.yaml'), document], folder)
    run('go', ['mod', 'tidy'], folder)
    run('go', ['build', '-o', 'drive', '.'], folder)
    return driven(join(folder, 'drive'), [], folder)
  },
  typescript(document, folder) {
    const tools = join(cache, 'typescript')
    mkdirSync(tools, { recursive: true })
    if (!existsSync(join(tools, 'node_modules')))
      run('npm', ['install', '--no-save', '--prefix', tools, ...generators.typescript], root)
    symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'))
    const args = [document, '--default-non-nullable=false', '-o', 'schema.ts']
    run(join(tools, 'node_modules/.bin/openapi-typescript'), args, folder)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const described = JSON.parse(readFileSync(document, 'utf8')) as OpenApi
    writeFileSync(join(folder, 'calls.ts'), typescriptCalls(described))
    const checks = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--noEmitOnError']
    run(join(tools, 'node_modules/.bin/tsc'), [...checks, 'calls.ts'], folder)
    copyFileSync(join(sources, 'drive.mjs'), join(folder, 'drive.mjs'))
    return driven(process.execPath, ['drive.mjs'], folder)
  },
}

function run(program: string, args: string[], cwd: string): void {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (error)
    throw new Error(`${program} cannot be run, install it or leave TEST_CLIENTS out: ${error.message}`)
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ends with ${status}: ${stderr}${stdout}`)
}

function driven(program: string, args: string[], cwd: string): GeneratedClient {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ready = lines.next()
  let last: Promise<unknown> = ready
  const sendCall = async (call: ClientCall): Promise<Called> => {
    child.stdin.write(`${JSON.stringify(call)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`${program} has ended`)
    return JSON.parse(value) as Called
  }
  return {
    call: (call) => {
      const answer = last.then(() => sendCall(call))
      last = answer.catch(() => {})
      return answer
    },
    stop: () => child.kill(),
  }
}
