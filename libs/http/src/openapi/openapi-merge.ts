import { canonicalJson } from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'
import type { OpenApiDocument } from './openapi.js'

type Section = Record<string, unknown>

/**
 * Merges the documents of several services into one, below /api/v1. Equal components are merged;
 * two different components with one name, and two operations with the same id or path, throw. Runs
 * in slices to keep the event loop responsive.
 */
export async function mergeOpenApi(
  documents: readonly OpenApiDocument[],
  info: OpenApiDocument['info'] = { title: 'Opsplane', version: '1' },
): Promise<OpenApiDocument> {
  const slice = createSlices()
  const paths: Record<string, Section> = {}
  const components: Record<string, Section> = {}
  const webhooks: Section = {}
  const tags = new Map<string, { name: string }>()
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths ?? {})) {
      paths[path] ??= {}
      mergeInto(paths[path], item, `the operation at ${path}`, () => false)
      await slice()
    }
    for (const [kind, section] of Object.entries(document.components ?? {})) {
      components[kind] ??= {}
      for (const [name, component] of Object.entries(section)) {
        mergeInto(components[kind], { [name]: component }, `the component in ${kind}`, equal)
        await slice()
      }
    }
    mergeInto(webhooks, document.webhooks ?? {}, 'the webhook', equal)
    for (const tag of document.tags ?? []) tags.set(tag.name, tag)
  }
  refuseRepeatedIds(paths)
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/api/v1' }],
    tags: [...tags.values()],
    paths,
    ...(Object.keys(webhooks).length > 0 && {
      webhooks: webhooks as NonNullable<OpenApiDocument['webhooks']>,
    }),
    components,
  }
}

function mergeInto(target: Section, source: object, kind: string, same: (a: unknown, b: unknown) => boolean) {
  for (const [name, value] of Object.entries(source)) {
    if (Object.hasOwn(target, name) && !same(target[name], value)) {
      throw new Error(`cannot merge OpenAPI documents: ${kind} named ${name} is defined twice`)
    }
    target[name] = value
  }
}

function equal(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function refuseRepeatedIds(paths: Record<string, Section>): void {
  const seen = new Set<string>()
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    if (operation === null || typeof operation !== 'object' || !('operationId' in operation)) continue
    const id = String(operation.operationId)
    if (seen.has(id)) throw new Error(`cannot merge OpenAPI documents: two operations are ${id}`)
    seen.add(id)
  }
}
