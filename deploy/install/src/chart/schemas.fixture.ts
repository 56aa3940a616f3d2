import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { run } from './chart-tools.fixture.js'

type Json = unknown
type JsonObject = Record<string, Json>

const Kinds = z.array(z.object({ group: z.string(), kind: z.string(), version: z.string() }))
const Swagger = z.object({ definitions: z.record(z.string(), z.looseObject({})) })
const Definition = z.object({
  kind: z.literal('CustomResourceDefinition'),
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(
      z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.looseObject({}) }) }),
    ),
  }),
})

/** File name in kubeconform's format: `deployment-apps-v1.json`. */
const fileOf = (kind: string, group: string, version: string) =>
  `${[kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase()}.json`

/** Validates manifests against the schemas that were written to a folder. */
export const kubeconform = (program: string, schemas: string, manifests: string) =>
  run(
    program,
    [
      ...['-strict', '-summary', '-schema-location'],
      ...[join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json'), '-'],
    ],
    { input: manifests },
  )

/** Writes a strict JSON Schema of every kind in an OpenAPI 2 document of Kubernetes. */
export function writeKindSchemas(swaggerFile: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  const { definitions } = Swagger.parse(JSON.parse(readFileSync(swaggerFile, 'utf8')))
  const strict = strictly(definitions)
  for (const [name, definition] of Object.entries(definitions))
    for (const { kind, group, version } of Kinds.parse(definition['x-kubernetes-group-version-kind'] ?? []))
      writeFileSync(
        join(folder, fileOf(kind, group, version)),
        JSON.stringify({ $ref: `#/definitions/${name}`, definitions: strict }),
      )
}

/** Writes the schemas of the custom resource definitions in a folder of YAML files. */
export function writeResourceSchemas(definitionsFolder: string, folder: string): void {
  for (const file of readdirSync(definitionsFolder).filter((name) => name.endsWith('.yaml')))
    for (const document of parseAllDocuments(readFileSync(join(definitionsFolder, file), 'utf8'))) {
      const found = Definition.safeParse(document.toJS())
      if (!found.success) continue
      const { group, names, versions } = found.data.spec
      for (const { name, schema } of versions) {
        const strict = strictly(schema.openAPIV3Schema, true)
        writeFileSync(join(folder, fileOf(names.kind, group, name)), JSON.stringify(strict))
      }
    }
}

/** Rejects properties that the document does not declare; accepts int-or-string values as the API server does. */
function strictly(value: Json, isRoot = false): Json {
  if (Array.isArray(value)) return value.map((item) => strictly(item))
  if (typeof value !== 'object' || value === null) return value
  const found = value as JsonObject
  if (found.format === 'int-or-string' || found['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer', 'number', 'null'] }
  const made = Object.fromEntries(Object.entries(found).map(([key, inner]) => [key, strictly(inner)]))
  const isOpen = found['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in found
  if (!isRoot && !isOpen && typeof found.properties === 'object' && found.type === 'object')
    return { ...made, additionalProperties: false }
  return made
}
