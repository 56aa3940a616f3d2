import { evaluateAsync } from '../expression/evaluate.js'
import type { Submitted } from './actions.js'
import { findProblem } from './input-values.js'
import type { FormComponent } from './needs.js'
import { isShown } from './resolve-request.js'
import type { PageStore } from './store.js'

export type Problems = Readonly<Record<string, string | undefined>>

/** Whether the action sends exactly the fields of a record. */
export const changesRecord = ({ operation, values }: FormComponent['action']) =>
  operation === 'update' && values === undefined

/** Builds the submitted data of a form. */
export function buildSubmission(store: PageStore, form: FormComponent): Submitted {
  const { inputs } = store
  const { action, fields } = form
  const isUpdate = action.operation === 'update'
  const version = action.version === undefined ? undefined : inputs.version(form)
  return {
    values: isUpdate
      ? inputs.updated(form)
      : Object.fromEntries(fields.map((field) => [field.id, inputs.value(field)])),
    unchanged: new Set(fields.filter((field) => !inputs.isChanged(field)).map((field) => field.id)),
    // If the version could not be evaluated, the action reports the error.
    version: version?.error === undefined ? version : undefined,
    onDone: () => store.reset(fields),
  }
}

/** Problems that prevent the form from being sent, by field. A hidden field may be empty. */
export async function findProblems(store: PageStore, { fields }: FormComponent): Promise<Problems> {
  const { inputs, scope } = store
  const found = fields.map(async (field) => {
    const shown = await evaluateAsync(field.visible ?? true, scope).then(isShown, () => undefined)
    if (shown === undefined)
      return [field.id, 'An error in the app keeps this field from being checked.'] as const
    if (inputs.failure(field) !== undefined)
      return [field.id, 'Fill this in: its initial value is not available.'] as const
    const problem = shown ? findProblem(field, inputs.typed(field), inputs.before(field)) : undefined
    return [field.id, problem] as const
  })
  return Object.fromEntries(await Promise.all(found))
}
