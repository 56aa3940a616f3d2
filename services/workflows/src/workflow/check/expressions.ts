import {
  type TenantScope,
  tenantKey,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { type Expressions, parseTemplate, type Template, type TemplateProblem } from '@opsplane/sandbox'
import { checkOutputs } from './outputs.js'
import { problem } from './structure.js'
import { type TemplateField, templateFields } from './templates.js'
import { checkReferences } from './visible.js'

interface Parsed {
  field: TemplateField
  template: Template
}

/** Fields that make a decision, so that a constant is a mistake. */
const decisive = new Set(['if', 'items'])

/** Finds expressions that cannot be parsed, and references to steps or names that do not exist or have no value yet. */
export async function checkExpressions(
  expressions: Pick<Expressions, 'check'>,
  definition: WorkflowDefinition,
  tenant: TenantScope,
): Promise<WorkflowProblem[]> {
  const problems: WorkflowProblem[] = []
  const parsed: Parsed[] = []
  for (const field of templateFields(definition)) {
    const result = parseTemplate(field.value)
    if ('template' in result) parsed.push({ field, template: result.template })
    else problems.push(...result.problems.map((each) => inField(field, each)))
  }
  problems.push(...parsed.flatMap(constantProblem))
  const templates = parsed.map(({ template }) => template)
  const checked = await expressions.check({ tenant: tenantKey(tenant), templates })
  problems.push(
    ...parsed.flatMap(({ field }, at) => checked[at]?.problems.map((each) => inField(field, each)) ?? []),
  )
  const reads = parsed.map(({ field: { step, path } }, at) => ({
    ...{ step, path },
    references: checked[at]?.references ?? [],
  }))
  const written = parsed.map(({ field: { step, path }, template }) => ({
    ...{ step, path },
    sources: template.expressions.map(({ source }) => source),
  }))
  return [...problems, ...checkReferences(definition, reads), ...checkOutputs(definition, written)]
}

function constantProblem({ field: { step, path }, template }: Parsed): WorkflowProblem[] {
  const name = String(path.at(-1))
  if (!decisive.has(name) || template.expressions.length > 0) return []
  return [problem(step, path, 'not_an_expression', 'must be an {{ expression }}')]
}

function inField({ step, path }: TemplateField, found: TemplateProblem): WorkflowProblem {
  const at = found.position === undefined ? '' : ` at ${found.position}`
  const shown = found.expression === '' ? '' : ` (in {{ ${found.expression.slice(0, 100)} }}${at})`
  return {
    step,
    path: `${jsonPointer(path)}${found.path}`,
    code: found.code,
    message: `${found.message}${shown}`,
  }
}
