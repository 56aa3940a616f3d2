import { type AppProblem, type TenantScope, tenantKey } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { type Expressions, parseTemplate, type Template } from '@opsplane/sandbox'

export type Path = readonly (string | number)[]

/** A value whose strings may contain `{{ expression }}`. */
export interface TemplateField {
  path: Path
  value: unknown
}

/** The names that the expressions of a field read. */
export interface TemplateReads {
  path: Path
  template: Template
  /** Names at the root; `*` if the expressions may read any. */
  references: readonly string[]
}

export interface CheckedFields {
  problems: AppProblem[]
  reads: TemplateReads[]
}

/** Returns the expressions that cannot be parsed, with their paths, and the names that the others read. */
export async function checkTemplates(
  expressions: Pick<Expressions, 'check'>,
  fields: readonly TemplateField[],
  tenant: TenantScope,
): Promise<CheckedFields> {
  const problems: AppProblem[] = []
  const parsed: { path: Path; template: Template }[] = []
  for (const { path, value } of fields) {
    const result = parseTemplate(value)
    if ('template' in result) parsed.push({ path, template: result.template })
    else problems.push(...result.problems.map((found) => problemAt(path, found)))
  }
  const templates = parsed.map(({ template }) => template)
  const checked = await expressions.check({ tenant: tenantKey(tenant), templates })
  for (const [at, { path }] of parsed.entries())
    problems.push(...(checked[at]?.problems ?? []).map((found) => problemAt(path, found)))
  return {
    problems,
    reads: parsed.map(({ path, template }, at) => ({
      ...{ path, template },
      references: checked[at]?.references ?? [],
    })),
  }
}

interface Found {
  path: string
  code: string
  message: string
  expression: string
  position?: number
}

function problemAt(path: Path, { path: within, code, message, expression, position }: Found): AppProblem {
  const at = position === undefined ? '' : ` at ${position}`
  const shown = expression === '' ? '' : ` (in {{ ${expression.slice(0, 100)} }}${at})`
  return { path: `${jsonPointer(path)}${within}`, code, message: `${message}${shown}` }
}

export const createProblem = (path: Path, code: string, message: string): AppProblem => ({
  path: jsonPointer(path),
  code,
  message,
})

const member = /(?:^|[^\w.$`])(\w+)\s*\.\s*(?:(\w+)|`([^`]+)`)/g
/**
 * Comments and string literals. An unterminated one extends to the end; otherwise the scan would restart at each
 * quotation mark in it.
 */
const quoted = /\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\]|\\[\s\S])*(?:"|$)|'(?:[^'\\]|\\[\s\S])*(?:'|$)/g

/**
 * Names of members that expressions read directly below one of these roots, such as `site` of `params.site`, with
 * their paths. Members that an expression reads in another way are not found.
 */
export function findMembers(
  { path, template }: Pick<TemplateReads, 'path' | 'template'>,
  roots: readonly string[],
): { root: string; name: string; path: string }[] {
  return template.expressions.flatMap((expression) =>
    [...expression.source.replaceAll(quoted, '""').matchAll(member)].flatMap(
      ([, root = '', plain, ticked]) =>
        roots.includes(root)
          ? [{ root, name: plain ?? ticked ?? '', path: `${jsonPointer(path)}${expression.path}` }]
          : [],
    ),
  )
}
