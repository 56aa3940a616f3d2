import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { manifestFile } from '@opsplane/contracts'
import { usageError } from '../failure.js'
import { readDeclarations } from './types.js'

/**
 * Creates a pack in a folder: one artifact with a test, and the files an editor needs. Throws CliError if one of the files
 * exists.
 */
export function createPackFolder(folder: string, name: string): string[] {
  const files = filesOf(name)
  const there = Object.keys(files).find((path) => existsSync(join(folder, path)))
  if (there !== undefined) throw usageError(`${join(folder, there)} already exists.`)
  for (const [path, text] of Object.entries(files)) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
  return Object.keys(files)
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const filesOf = (name: string): Record<string, string> => ({
  [manifestFile]: json({
    format: 'opsplane.pack/1',
    name,
    version: '0.1.0',
    description: '',
    artifacts: [
      {
        slug: `${name.replaceAll('.', '-')}-hello`,
        name: 'Hello',
        description: 'Greets the person named in the input and counts the open incidents.',
        kind: 'workflow_action',
        source: 'src/hello.ts',
        input: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', minLength: 1 } },
          additionalProperties: false,
        },
        permissions: { api: ['listIncidents'] },
        tests: 'tests/hello.json',
      },
    ],
  }),
  'src/hello.ts': `import { artifact } from '@opsplane/sdk'

interface Input {
  name: string
}

export default artifact<Input>(async ({ name }, host) => {
  const { data } = await host.api<{ id: string }[]>({ operation: 'listIncidents', query: { status: 'open' } })
  host.log.info('counted', { open: data.length })
  return { text: \`Hello \${name}\`, open: data.length }
})
`,
  'tests/hello.json': json([
    {
      name: 'greets and counts',
      input: { name: 'Ada' },
      host: [
        {
          call: 'api',
          with: { operation: 'listIncidents', query: { status: 'open' } },
          returns: { status: 200, data: [{ id: 'inc_1' }] },
        },
      ],
      expect: { output: { text: 'Hello Ada', open: 1 } },
    },
  ]),
  'tsconfig.json': json({
    compilerOptions: {
      ...{ target: 'es2022', lib: ['es2022'], module: 'esnext', moduleResolution: 'bundler' },
      ...{ strict: true, noEmit: true, types: [] },
      paths: { '@opsplane/sdk': ['./types/opsplane-sdk.d.ts'] },
    },
    include: ['src', 'types'],
  }),
  'types/opsplane-sdk.d.ts': readFileSync(readDeclarations(), 'utf8').replace(
    /\n\/\/# sourceMappingURL.*\s*$/,
    '\n',
  ),
})
