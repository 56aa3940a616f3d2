import type { Step, WorkflowDefinition, WorkflowProblem } from '@opsplane/contracts'
import { problem } from './structure.js'
import type { Path } from './walk.js'
import { visitSteps } from './walk.js'

/** The expressions of a field, in source form. */
export interface FieldExpressions {
  step: string | null
  path: Path
  sources: readonly string[]
}

const members = ['output', 'error', 'status']
/** Does not match after other path parts, as in `item.steps`. */
const reads = /(?<![.\w$`])steps\s*\.\s*([a-z][a-z0-9_]*)\s*\.\s*(\w+)(?:\s*\.\s*([A-Za-z_]\w*)(?!\s*\())?/g
const strings = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\*[\s\S]*?\*\//g

/** Finds step properties that do not exist, and unknown fields of outputs whose fields are known in advance. */
export function checkOutputs(
  definition: WorkflowDefinition,
  written: readonly FieldExpressions[],
): WorkflowProblem[] {
  const fields = new Map(visitSteps(definition).map(({ step }) => [step.id, listFields(step)]))
  return written.flatMap(({ step, path, sources }) =>
    sources.flatMap((source) =>
      [...source.replaceAll(strings, '""').matchAll(reads)].flatMap(([, id = '', member = '', field]) => {
        if (!fields.has(id)) return []
        if (!members.includes(member))
          return [
            problem(
              step,
              path,
              'unknown_field',
              `reads ${member} of ${id}; a step has ${members.join(', ')}`,
            ),
          ]
        const known = fields.get(id)
        if (member !== 'output' || field === undefined || !known || known.includes(field)) return []
        const has = known.length === 0 ? 'none' : known.join(', ')
        return [
          problem(step, path, 'unknown_output', `reads ${field} of the output of ${id}, which has ${has}`),
        ]
      }),
    ),
  )
}

/** Fields of a step's output; `undefined` if they are not known in advance. */
function listFields(step: Step): readonly string[] | undefined {
  switch (step.type) {
    case 'http':
      return ['status', 'headers', 'body']
    case 'api':
      return ['status', 'data', 'pagination']
    case 'publish':
      return ['id', 'deduplicated']
    case 'approval':
      return ['approved', 'expired', 'decisions']
    case 'wait':
      return step.event ? undefined : ['at']
    case 'workflow':
      return step.wait ? undefined : ['runId']
    case 'parallel':
      return step.branches.map(({ name }) => name)
    case 'transform':
      return isPlainObject(step.value) ? Object.keys(step.value) : undefined
    default:
      return undefined
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
