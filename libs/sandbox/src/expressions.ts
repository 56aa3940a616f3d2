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

interface Asking {
  /** `workspace/environment`: whose turn it is, and who waits for a child it has cost. */
  tenant: string
  /** Rejects with its reason. */
  signal?: AbortSignal | undefined
}

interface EvaluateRequest extends Asking {
  templates: readonly Template[]
  /** A JSON object: what the expressions find at their root. */
  scope: Record<string, unknown>
  /** For all of them together, once a child has them. */
  timeoutMs?: number | undefined
  /**
   * Values that hold a text like `{{secrets.name}}` are refused, as the receiver would fill them in. `keep` is for what
   * is not sent.
   */
  secretReferences?: 'refuse' | 'keep' | undefined
}

interface EvaluateExpressionRequest extends Asking {
  /** JSONata, without braces. */
  expression: string
  input: unknown
  /** Values of `$name`. */
  bindings?: Record<string, unknown> | undefined
  timeoutMs?: number | undefined
}

interface CheckedTemplate {
  problems: TemplateProblem[]
  /** Root paths it reads, such as `trigger`, `steps.fetch`, `item`; `*` where it may read any. */
  references: string[]
}

/** Evaluates JSONata, in child processes wherever it is more than a constant or a path. */
export interface Expressions {
  /** Values of templates in their order, against one scope; all that needs a child goes there in one message. */
  evaluate(request: EvaluateRequest): Promise<Evaluated[]>
  /** One raw expression; what comes to nothing is null. */
  evaluateExpression(request: EvaluateExpressionRequest): Promise<Evaluated>
  /** Syntax, and what templates refer to. */
  check(request: Asking & { templates: readonly Template[] }): Promise<CheckedTemplate[]>
  /** Ends the children; requests in flight fail as `expression_unavailable`. */
  close(): Promise<void>
}

interface ExpressionsOptions {
  log: Logger
  /** Processes at most. */
  children?: number
  /** Heap of each. */
  heapMb?: number
  /** UTF-8 bytes of a request to a child: the scope, and the expressions. */
  maxInputBytes?: number
  /** UTF-8 bytes of JSON of what the expressions of a request, and of a template, come to. */
  maxOutputBytes?: number
  timeoutMs?: number
  /** Children with nothing to do for so long are stopped. */
  idleMs?: number
  /** The longest a request waits for its turn. */
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
const besideHeapBytes = 160 * 1024 * 1024
/** JSONata's own guardrail says more about what took long than the end of the process. */
const graceMs = 100
const maxWaiting = 1_000
/** Requests a child is given at once: the process and the child then wait for each other once. */
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
      residentBytes: heapMb * 1024 * 1024 + besideHeapBytes,
      replyBytes: maxOutputBytes + maxReplyOverhead,
    },
  })

  async function ask<Answer>(
    request: ChildRequest,
    { tenant, signal, timeoutMs }: Asking & { timeoutMs: number },
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

  /** Results by the expression's text: the same one need be evaluated once only. */
  async function resultsOf(
    request: Omit<EvaluateExpressionRequest, 'expression'>,
    expressions: readonly string[],
  ): Promise<(source: string) => ExpressionResult> {
    const { input, bindings, timeoutMs = times.timeoutMs } = request
    const asked: ChildRequest = { op: 'evaluate', expressions, timeoutMs, maxOutputBytes, input, bindings }
    const results = expressions.length === 0 ? [] : await ask(asked, { ...request, timeoutMs }, parseResults)
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
      const asked: ChildRequest = { op: 'check', expressions }
      const checks =
        expressions.length === 0
          ? []
          : await ask(asked, { ...request, timeoutMs: times.timeoutMs }, parseChecks)
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
 * As JSON.stringify writes it: an ExactNumber is a string to JSONata, whose numbers are doubles. Undefined for what has no JSON: a value that goes too deep, or is longer than
 * a string can be.
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
