import {
  exampleBody,
  listAllOperations,
  type OpenApi,
  type Operation,
  requiredValues,
} from '../fuzz/document.js'

const places = ['path', 'query', 'header'] as const

/**
 * A module with a call of every operation by `openapi-fetch`, over the types in `schema.ts` that `openapi-typescript` has made, and
 * with arguments for each, which are of the types that their operation takes.
 */
export function typescriptCalls(document: OpenApi): string {
  const operations = listAllOperations(document)
  const lines = (line: (operation: Operation) => string) => operations.map(line).join('\n')
  return `import type { Client, FetchOptions } from 'openapi-fetch'
import type { paths } from './schema.js'

type Of<Path extends keyof paths, Method extends keyof paths[Path]> = FetchOptions<paths[Path][Method]>

export const calls = {
${lines((operation) => `  ${operation.id}: (client: Client<paths>, init: ${initType(operation)}) => ${callOf(operation)},`)}
}

export const examples = {
${lines((operation) => `  ${operation.id}: ${JSON.stringify(exampleOf(document, operation))} satisfies ${initType(operation)},`)}
}
`
}

const initType = ({ path, method }: Operation) => `Of<'${path}', '${method.toLowerCase()}'>`

const callOf = (operation: Operation) => {
  const how = readsJson(operation) ? '' : `, parseAs: 'text'`
  return `client.${operation.method}('${operation.path}', { ...init${how} })`
}

/** JSON is what is read unless the call says otherwise. */
function readsJson({ raw }: Operation): boolean {
  const { content = {} } = Object.entries(raw.responses).find(([status]) => Number(status) < 300)?.[1] ?? {}
  const [media = 'application/json'] = Object.keys(content)
  return media === 'application/json'
}

function exampleOf(document: OpenApi, operation: Operation): object {
  const params = places
    .map((place) => [place, requiredValues(operation, place)] as const)
    .filter(([, values]) => Object.keys(values).length > 0)
  const body = operation.body ? exampleBody(document, operation) : operation.upload && 'id,name\n1,Ada\n'
  return { params: Object.fromEntries(params), ...(body !== undefined && { body }) }
}
