import { exactNumbersAsText } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import type { ChildRequest } from './child-request.js'
import type { ExpressionFailure } from './error-codes.js'
import { type ChildCheck, type ChildResult, parseChecks, parseResults } from './messages.js'
import { createChildPool } from './pool/pool.js'
import { expressionProgram } from './program.js'
import {
  type Evaluated,
  inputTooLarge,
  ownFailure,
  type RequestFailure,
  toRequestFailure,
} from './results.js'
import { assemble, type ExpressionResult } from './template/assemble.js'
import { walkPlainPath } from './template/plain-path.js'
import type { Template, TemplateExpression, TemplateProblem } from './template/template.js'

interface EvaluationContext {
  /** `workspace/environment`: used for fair turns, and to delay a tenant that made a child fail. */
  tenant: string
  /** Rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

interface EvaluateRequest extends EvaluationContext {
  templates: readonly Template[]
  /** A JSON object: the root of the expressions. */
  scope: Record<string, unknown>
  /** Total for all expressions after a child has received them, in milliseconds. */
  timeoutMs?: number | undefined
  /**
   * By default, values that contain a text such as `{{secrets.name}}` are rejected, because the receiver would replace it
   * by the secret. Use `keep` for values that are not sent.
   */
  secretReferences?: 'refuse' | 'keep' | undefined
}

interface EvaluateExpressionRequest extends EvaluationContext {
  /** JSONata, without braces. */
  expression: string
  input: unknown
  /** Values of variables `$name`. */
  bindings?: Record<string, unknown> | undefined
  timeoutMs?: number | undefined
}

interface CheckedTemplate {
  problems: TemplateProblem[]
  /** Root paths that the template reads, such as `trigger`, `steps.fetch`, `item`; `*` if it may read any. */
  references: string[]
}

/** Evaluates JSONata; expressions other than constants and paths are evaluated in child processes. */
export interface Expressions {
  /** Values of the templates in order, for one scope. All expressions that need a child are sent in one message. */
  evaluate(request: EvaluateRequest): Promise<Evaluated[]>
  /** Evaluates one raw expression; a missing result becomes `null`. */
  evaluateExpression(request: EvaluateExpressionRequest): Promise<Evaluated>
  /** Checks the syntax and finds the references of templates. */
  check(request: EvaluationContext & { templates: readonly Template[] }): Promise<CheckedTemplate[]>
  /** Ends the children; pending requests fail with `expression_unavailable`. */
  close(): Promise<void>
}

interface ExpressionsOptions {
  log: Logger
  /** Maximum number of processes. */
  children?: number
  /** Heap size of each process, in MB. */
  heapMb?: number
  /** Maximum size in UTF-8 bytes of a request to a child: the scope and the expressions. */
  maxInputBytes?: number
  /** Maximum size in UTF-8 bytes of the results of a request, and of a template, as JSON. */
  maxOutputBytes?: number
  timeoutMs?: number
  /** Children that are idle for longer are stopped, in milliseconds. */
  idleMs?: number
  /** Maximum time a request waits for its turn, in milliseconds. */
  maxWaitMs?: number
}

const defaults = {
  children: 2,
  heapMb: 128,
  maxInputBytes: 4 * 1024 * 1024,
  maxOutputBytes: 4 * 1024 * 1024,
  timeoutMs: 800,
  idleMs: 60_000,
  maxWaitMs: 30_000,
}
const startMs = 30_000
/** Resident memory of a process in addition to its heap. */
const nonHeapBytes = 160 * 1024 * 1024
/** Delay before a child is killed, because JSONata's own timeout gives a better error. In milliseconds. */
const graceMs = 100
const maxWaiting = 1_000
/** Maximum number of requests sent to a child together, which saves round trips between the processes. */
const atOnce = 16

export function createExpressions(options: ExpressionsOptions): Expressions & { pids(): number[] } {
  const { log, children, heapMb, maxInputBytes, maxOutputBytes, ...times } = { ...defaults, ...options }
  const pool = createChildPool({
    log,
    maxWaiting,
    maxWaitMs: times.maxWaitMs,
    children,
    atOnce,
    program: expressionProgram(heapMb),
    idleMs: times.idleMs,
    limits: {
      startMs,
      residentBytes: heapMb * 1024 * 1024 + nonHeapBytes,
      replyBytes: maxOutputBytes + maxReplyOverhead,
    },
  })

  async function sendRequest<Answer>(
    request: ChildRequest,
    { tenant, signal, timeoutMs }: EvaluationContext & { timeoutMs: number },
    parse: (text: string) => Answer[],
  ): Promise<Answer[] | RequestFailure> {
    const text = textOf(request)
    if (text === undefined || Buffer.byteLength(text) > maxInputBytes) return inputTooLarge
    try {
      return await pool.run({ tenant, signal, text, parse, deadlineMs: timeoutMs + graceMs })
    } catch (thrown) {
      return toRequestFailure(thrown, request.expressions)
    }
  }

  /** Results by the text of the expression, so that equal expressions are evaluated only once. */
  async function resultsOf(
    request: Omit<EvaluateExpressionRequest, 'expression'>,
    expressions: readonly string[],
  ): Promise<(source: string) => ExpressionResult> {
    const { input, bindings, timeoutMs = times.timeoutMs } = request
    const childRequest: ChildRequest = {
      op: 'evaluate',
      expressions,
      timeoutMs,
      maxOutputBytes,
      input,
      bindings,
    }
    const results =
      expressions.length === 0 ? [] : await sendRequest(childRequest, { ...request, timeoutMs }, parseResults)
    const found = new Map<string, ChildResult>()
    if (Array.isArray(results))
      for (const [index, result] of results.entries()) found.set(expressions[index] ?? '', result)
    return (source) =>
      Array.isArray(results) ? (found.get(source) ?? { error: unusable }) : { error: results }
  }

  return {
    async evaluate({ templates, scope, secretReferences, ...request }) {
      const remote = unique(templates.flatMap(({ expressions }) => expressions.filter(needsChild)))
      const resultOf = await resultsOf({ ...request, input: scope }, remote)
      return templates.map((template) =>
        assemble(template, {
          maxBytes: maxOutputBytes,
          keepSecretReferences: secretReferences === 'keep',
          resultOf: ({ plain, source }) =>
            plain ? { value: exactNumbersAsText(walkPlainPath(plain, scope)) } : resultOf(source),
        }),
      )
    },
    async evaluateExpression({ expression, ...request }) {
      const result = (await resultsOf(request, [expression]))(expression)
      return 'error' in result
        ? { ok: false, error: { ...(ownFailure(result.error, expression) ?? unusable), expression } }
        : { ok: true, value: result.value ?? null }
    },
    async check({ templates, ...request }) {
      const expressions = unique(templates.flatMap((template) => template.expressions))
      const childRequest: ChildRequest = { op: 'check', expressions }
      const checks =
        expressions.length === 0
          ? []
          : await sendRequest(childRequest, { ...request, timeoutMs: times.timeoutMs }, parseChecks)
      const checkOf = (source: string): ChildCheck =>
        Array.isArray(checks)
          ? (checks[expressions.indexOf(source)] ?? { error: unusable, references: [] })
          : { error: ownFailure(checks, source), references: [] }
      return templates.map((template) => checked(template, checkOf))
    },
    close: pool.close,
    pids: pool.pids,
  }
}

const maxReplyOverhead = 1024 * 1024
const unusable: ExpressionFailure = { code: 'expression_unavailable', message: 'could not be evaluated' }

const needsChild = ({ plain }: TemplateExpression): boolean => plain === undefined
const unique = (expressions: readonly TemplateExpression[]): string[] => [
  ...new Set(expressions.map(({ source }) => source)),
]

/**
 * The request as JSON, in which an ExactNumber is a string, because JSONata's numbers are doubles. `undefined` if the
 * value cannot be serialized: it is nested too deeply, or longer than a string can be.
 */
function textOf(request: ChildRequest): string | undefined {
  try {
    return JSON.stringify(request)
  } catch {
    return undefined
  }
}

function checked({ expressions }: Template, checkOf: (source: string) => ChildCheck): CheckedTemplate {
  const checks = expressions.map((expression) => ({ expression, ...checkOf(expression.source) }))
  return {
    problems: checks.flatMap(({ expression: { path, source }, error }) => {
      if (!error) return []
      const { code, message, position } = error
      return [{ path, expression: source, code, message, ...(position !== undefined && { position }) }]
    }),
    references: [...new Set(checks.flatMap(({ references }) => references))].sort(),
  }
}
