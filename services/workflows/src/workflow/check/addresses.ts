import { ApiError, type WorkflowDefinition, type WorkflowProblem } from '@opsplane/contracts'
import type { Outbound } from '@opsplane/http'
import { problem } from './structure.js'
import { isTemplate } from './templates.js'
import { visitSteps } from './walk.js'

/** The literal start of a URL that continues with an expression, if it contains the whole host. */
const literalStart = /^[a-z][a-z0-9+.-]*:\/\/[^/?#{]+[/?#]/i

/** Finds literal addresses of http steps that the outbound guard rejects. */
export function checkAddresses(
  definition: WorkflowDefinition,
  { checkUrl }: Pick<Outbound, 'checkUrl'>,
): WorkflowProblem[] {
  return visitSteps(definition).flatMap(({ step, path }) => {
    if (step.type !== 'http') return []
    const literal = isTemplate(step.url) ? literalStart.exec(step.url)?.[0] : step.url
    if (literal === undefined) return []
    try {
      checkUrl(literal)
      return []
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const [{ code, message } = { code: error.code, message: error.message }] = error.details
      return [problem(step.id, [...path, 'url'], code, message)]
    }
  })
}
