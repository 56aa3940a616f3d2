import type { ErrorDetail } from '@opsplane/contracts'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema, OpenApi, Operation } from './document.js'
import type { Answer } from './exchange.js'

export interface Judge {
  /** Problems of an operation's response; empty if there are none. */
  problems(operation: Operation, answer: Answer): string[]
  /** Problems of the examples of its responses. */
  wrongExamples(operation: Operation): string[]
  /** Whether the document allows this body. */
  allows(operation: Operation, body: unknown): boolean
}

/** Operations that call other servers, whose errors they may pass on; never those of a service of the platform. */
const callingOut = new Set(['testWebhook', 'invokeConnector'])
/** Names the schema of a line. */
const itemSchema = 'x-itemSchema'
const failuresOfOthers = new Set(['upstream_error', 'upstream_timeout'])

/** Validates responses against the document alone. */
export function createJudge(document: OpenApi): Judge {
  // Most schemas validate only a few responses: optimizing their code costs more than it saves.
  const code = { optimize: false }
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, code })
  ajvFormats.default(ajv)
  ajv.addSchema(document, 'doc:')
  const compiled = new Map<string, ValidateFunction>()
  const validator = (place: string[]): ValidateFunction => {
    const { $ref: target = `#${fragment(place)}` } = schemaAt(document, place)
    const known = compiled.get(target) ?? ajv.compile({ $ref: `doc:${target}` })
    compiled.set(target, known)
    return known
  }
  const schemaProblems = (operation: Operation, answer: Answer): string[] => {
    const declared = operation.raw.responses[answer.status]
    if (!declared) return [`status ${answer.status} is not declared`]
    const medias = Object.keys(declared.content ?? {})
    if (medias.length === 0) return answer.text === '' ? [] : ['a body where none is declared']
    const media = medias.find((each) => each === '*/*' || answer.contentType.startsWith(each))
    if (media === undefined) return [`content type ${answer.contentType} instead of ${medias.join(' or ')}`]
    const place = [...placeOf(operation), 'responses', String(answer.status), 'content', media]
    if (declared.content?.[media]?.[itemSchema]) return lineProblems(place, answer.text)
    if (media !== 'application/json') return []
    const validate = validator([...place, 'schema'])
    return validate(answer.json) ? [] : [`against its schema: ${ajv.errorsText(validate.errors)}`]
  }
  const lineProblems = (place: string[], text: string): string[] => {
    const validate = validator([...place, itemSchema])
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.flatMap((line) =>
      validate(JSON.parse(line)) ? [] : [`a line against its schema: ${ajv.errorsText(validate.errors)}`],
    )
  }
  return {
    problems: (operation, answer) => [
      ...(answer.status >= 500 &&
      !(callingOut.has(operation.id) && failuresOfOthers.has(errorCode(answer) ?? ''))
        ? [`status ${answer.status}`]
        : []),
      ...schemaProblems(operation, answer),
      ...requestIdProblems(answer),
    ],
    wrongExamples: (operation) =>
      Object.entries(operation.raw.responses)
        .filter(([status]) => Number(status) < 300)
        .flatMap(([status, { content = {} }]) =>
          Object.entries(content).map(([media, described]) => ({ status, media, described })),
        )
        .flatMap(({ status, media, described }) => {
          const { example } = described
          if (example === undefined) return [`${status} has no example of ${media}`]
          const place = [...placeOf(operation), 'responses', status, 'content', media]
          const validate = validator([...place, 'schema'])
          if (!validate(example)) return [`${status}, its example: ${ajv.errorsText(validate.errors)}`]
          return itemSchema in described ? lineProblems(place, String(example)) : []
        }),
    allows: (operation, body) =>
      validator([...placeOf(operation), 'requestBody', 'content', 'application/json', 'schema'])(body),
  }
}

const placeOf = ({ path, method }: Operation): string[] => ['paths', path, method.toLowerCase()]

/** A schema that is only a reference, such as that of every error, is compiled once for all places. */
function schemaAt(document: OpenApi, place: string[]): JsonSchema {
  return place.reduce<object>((node, name) => node[name as never], document) as JsonSchema
}

function fragment(parts: string[]): string {
  const escaped = parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
  return escaped.map((part) => `/${encodeURIComponent(part)}`).join('')
}

function requestIdProblems({ status, requestId, sentRequestId, json }: Answer): string[] {
  // Headers that exceed the limit are not read completely.
  if (status === 431) return []
  if (requestId !== sentRequestId) return [`X-Request-ID ${sentRequestId} came back as ${requestId}`]
  const inBody = (json as { meta?: { requestId?: unknown } } | undefined)?.meta?.requestId
  return inBody === undefined || inBody === sentRequestId ? [] : [`meta.requestId is ${inBody}`]
}

/** The code of an error response. */
export function errorCode({ json }: Answer): string | undefined {
  return (json as { error?: { code?: string } } | undefined)?.error?.code
}

/** Whether the error names the place, or one within it. */
export function namesPlace({ json }: Answer, place: ErrorDetail['in'], pointer: string): boolean {
  const details = (json as { error?: { details?: ErrorDetail[] } } | undefined)?.error?.details ?? []
  return details.some(
    ({ in: where, path }) => where === place && (path === pointer || path.startsWith(`${pointer}/`)),
  )
}
