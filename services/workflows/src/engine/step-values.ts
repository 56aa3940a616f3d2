import type { Step } from '@opsplane/contracts'
import { assertNever } from '@opsplane/contracts'

/** The templates of a step as one JSON value; for an effect its input. `undefined` if there are none. */
export function buildTemplateValue(step: Step): unknown {
  switch (step.type) {
    case 'http':
      return present({ url: step.url, headers: step.headers, query: step.query, body: step.body })
    case 'api':
      return present({ params: step.params, query: step.query, body: step.body })
    case 'connector':
    case 'artifact':
    case 'workflow':
      return step.input ?? null
    case 'publish':
      return present({
        eventType: step.eventType,
        payload: step.payload,
        deduplicationKey: step.deduplicationKey,
      })
    case 'transform':
      return step.value
    case 'wait':
      return present({ seconds: step.seconds, until: step.until, filter: step.event?.filter })
    case 'approval':
      return {
        title: step.title,
        message: step.message,
        data: step.data ?? null,
        users: step.approvers.users,
      }
    case 'stop':
      return step.output ?? null
    case 'fail':
      return present({ message: step.message, details: step.details })
    case 'branch':
      return step.if
    case 'switch':
      return { value: step.value, cases: step.cases.map(({ equals }) => equals) }
    case 'for_each':
      return step.items
    case 'parallel':
      return undefined
    default:
      return assertNever(step)
  }
}

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
