import {
  ArtifactApi,
  type ArtifactKind,
  type ArtifactLimits,
  type ArtifactPermissions,
  type ArtifactRule,
  ArtifactTests,
  type JsonValue,
  type ManifestArtifact,
  manifestFile,
  PackManifest,
  type PackProblem,
  packLimits,
  parseExact,
  type Schedule,
  unknownEventPatterns,
} from '@opsplane/contracts'
import { compileSchema } from '@opsplane/json-schema'
import type { z } from 'zod'

/** A pack as received, not validated. */
export interface PackContent {
  manifest: unknown
  /** File contents by path. */
  files: Readonly<Record<string, string>>
}

/** An artifact with the content of all files that its manifest entry refers to. */
export interface PackArtifact {
  slug: string
  name: string
  description: string
  kind: ArtifactKind
  fileName: string
  source: string
  inputSchema: Record<string, JsonValue> | null
  outputSchema: Record<string, JsonValue> | null
  permissions: ArtifactPermissions
  limits: ArtifactLimits
  retryable: boolean
  rule: ArtifactRule | null
  api: ArtifactApi | null
  schedule: Schedule | null
  tests: ArtifactTests
}

type ReadPack =
  | { manifest: PackManifest; artifacts: PackArtifact[]; problems: PackProblem[] }
  | { manifest: null; artifacts: []; problems: PackProblem[] }

/** Reads the artifacts of a pack and reports all problems, except those of the code. */
export function readPack({ manifest: given, files }: PackContent): ReadPack {
  const parsed = PackManifest.safeParse(given)
  if (!parsed.success)
    return { manifest: null, artifacts: [], problems: issuesOf(parsed.error, manifestFile) }
  const problems: PackProblem[] = [...sizeProblems(files)]
  const artifacts = parsed.data.artifacts.map((artifact, index) =>
    readArtifact(artifact, `/artifacts/${index}`, { files, problems }),
  )
  return { manifest: parsed.data, artifacts, problems }
}

interface Reading {
  files: PackContent['files']
  problems: PackProblem[]
}

const defaultApi = ArtifactApi.parse({})

function readArtifact(artifact: ManifestArtifact, pointer: string, reading: Reading): PackArtifact {
  const { slug, name = slug, description, kind, source, permissions, limits, retryable } = artifact
  const { rule = null, schedule = null, api } = artifact
  for (const { index, message } of unknownEventPatterns(rule?.events ?? []))
    reading.problems.push(
      problemAt(manifestFile, `${pointer}/rule/events/${index}`, 'unknown_event', message),
    )
  return {
    ...{ slug, name, description, kind, permissions, limits, retryable, rule, schedule },
    api: kind === 'api' ? (api ?? defaultApi) : null,
    fileName: source,
    source: textOf(source, `${pointer}/source`, reading) ?? '',
    inputSchema: readSchema(artifact.input, `${pointer}/input`, reading),
    outputSchema: readSchema(artifact.output, `${pointer}/output`, reading),
    tests: readTests(artifact.tests, `${pointer}/tests`, reading),
  }
}

function readSchema(schemaOrPath: ManifestArtifact['input'], pointer: string, reading: Reading) {
  if (schemaOrPath === undefined) return null
  const found = typeof schemaOrPath === 'string' ? jsonOf(schemaOrPath, pointer, reading) : schemaOrPath
  if (found === undefined) return null
  const compiled = compileSchema(found)
  if ('problems' in compiled) {
    const [file, prefix] = typeof schemaOrPath === 'string' ? [schemaOrPath, ''] : [manifestFile, pointer]
    for (const { path, code, message } of compiled.problems)
      reading.problems.push(problemAt(file, `${prefix}${path}`, code, message))
    return null
  }
  // A value that compiles as a schema and is not a boolean is a JSON object.
  return typeof found === 'object' ? (found as Record<string, JsonValue>) : null
}

function readTests(testsOrPath: ManifestArtifact['tests'], pointer: string, reading: Reading): ArtifactTests {
  if (testsOrPath === undefined) return []
  if (typeof testsOrPath !== 'string') return testsOrPath
  const found = jsonOf(testsOrPath, pointer, reading)
  if (found === undefined) return []
  const parsed = ArtifactTests.safeParse(found)
  if (parsed.success) return parsed.data
  reading.problems.push(...issuesOf(parsed.error, testsOrPath))
  return []
}

function textOf(path: string, pointer: string, { files, problems }: Reading): string | undefined {
  const text = Object.hasOwn(files, path) ? files[path] : undefined
  if (text === undefined)
    problems.push(problemAt(manifestFile, pointer, 'missing_file', `names ${path}, which is not in the pack`))
  return text
}

function jsonOf(path: string, pointer: string, reading: Reading): unknown {
  const text = textOf(path, pointer, reading)
  if (text === undefined) return undefined
  try {
    return parseExact(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    reading.problems.push(problemAt(path, '', 'malformed_json', `is no JSON: ${reason}`))
    return undefined
  }
}

function sizeProblems(files: PackContent['files']): PackProblem[] {
  const sizes = Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.byteLength(text) }))
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const large = sizes.filter(({ bytes }) => bytes > packLimits.fileBytes)
  return [
    ...large.map(({ path }) =>
      problemAt(path, '', 'too_big', `is larger than ${packLimits.fileBytes} bytes`),
    ),
    ...(total > packLimits.totalBytes
      ? [problemAt(manifestFile, '', 'too_big', `has files of more than ${packLimits.totalBytes} bytes`)]
      : []),
  ]
}

const issuesOf = (error: z.ZodError, file: string): PackProblem[] =>
  error.issues.map(({ path, code, message }) =>
    problemAt(file, path.map((key) => `/${escaped(String(key))}`).join(''), code, message),
  )

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

const problemAt = (file: string, path: string, code: string, message: string): PackProblem => ({
  ...{ file, path, code, message },
  line: null,
  column: null,
})
