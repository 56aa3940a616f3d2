import {
  ApiError,
  type ChangePatch,
  type ChangeState,
  type ChangeTemplateState,
  type ErrorDetail,
  idSchema,
  invalidField,
  type NewChange,
} from '@opsplane/contracts'
import { applyPatch } from '../patch.js'

/** The current template, which was agreed on beforehand, and the classes of the items the change touches. */
export interface TemplateAgreement {
  /** `null` if there is no template with this id. */
  template: ChangeTemplateState | null
  classes: ReadonlyMap<string, string>
}

/** The fields that a standard change takes from its template. */
const agreedFields = [
  'implementationPlan',
  'testPlan',
  'backoutPlan',
  'impact',
  'successProbability',
] as const
type Agreed = Pick<ChangeState, (typeof agreedFields)[number]>

const defaultAgreed: Agreed = {
  implementationPlan: null,
  testPlan: null,
  backoutPlan: null,
  impact: 'medium',
  successProbability: null,
}

/** Returns the user-entered fields of a new change, taken from its template or from the input. */
export function buildDraft(
  input: NewChange,
  agreed: TemplateAgreement | undefined,
): Omit<NewChange, keyof Agreed | 'title'> & Agreed & { title: string } {
  const template = input.type === 'standard' ? activeTemplate(input, agreed) : undefined
  if (template) checkTemplateFields(input, template)
  const title = input.title ?? template?.title
  if (!title) throw invalidField('/title', 'required', 'The change needs a title, as its template has none.')
  const own = template ? pickAgreed(template) : applyPatch(defaultAgreed, pickAgreed(input))
  if (template) checkFit({ ...input, ...own }, template, agreed)
  return { ...input, ...own, title }
}

/**
 * Returns the change after an edit. Assigning a template to a standard change copies the template's fields; they cannot
 * be edited otherwise. A change that is no longer a standard change keeps them as its own.
 */
export function applyTemplateEdit<State extends ChangeState>(
  { before, asked, patch }: { before: ChangeState; asked: State; patch: ChangePatch },
  agreed: TemplateAgreement | undefined,
): State {
  const was = before.type === 'standard'
  if (asked.type !== 'standard')
    return was && patch.templateId === undefined ? { ...asked, templateId: null } : asked
  if (!was || asked.templateId !== before.templateId) {
    const template = activeTemplate(asked, agreed)
    checkTemplateFields(patch, template)
    const templatedChange = { ...asked, ...pickAgreed(template) }
    checkFit(templatedChange, template, agreed)
    return templatedChange
  }
  if (!isTemplated(before)) return asked
  checkTemplateFields(patch, before)
  if (agreed?.template) checkFit(asked, agreed.template, agreed, before)
  return asked
}

/**
 * Returns a standard change at submission, with the current fields of its template rather than those at drafting: the
 * current ones are what was agreed on. Throws validation_failed if the change exceeds the limits of the template.
 */
export function applyTemplate<State extends ChangeState>(
  change: State,
  agreed: TemplateAgreement | undefined,
): State {
  const template = activeTemplate(change, agreed)
  checkFit(change, template, agreed)
  return { ...change, ...pickAgreed(template) }
}

/** Before templates existed, `templateId` was any name or `null`. Such a change has its own texts. */
const isTemplated = ({ templateId }: ChangeState) => idSchema('changeTemplate').safeParse(templateId).success

function activeTemplate(
  { templateId }: Pick<ChangeState, 'templateId'>,
  agreed: TemplateAgreement | undefined,
): ChangeTemplateState {
  const invalid = (code: string, message: string) => invalidField('/templateId', code, message)
  if (templateId === null) throw invalid('required', 'A standard change requires a template.')
  const template = agreed?.template
  if (!template) throw invalid('not_found', 'There is no such template in this workspace and environment.')
  if (template.status !== 'active') throw invalid('inactive', `The template ${template.name} is inactive.`)
  return template
}

type AgreedInput = { [Name in keyof Agreed]?: Agreed[Name] | undefined }

const pickAgreed = <Own extends AgreedInput>({
  implementationPlan,
  testPlan,
  backoutPlan,
  impact,
  successProbability,
}: Own): Pick<Own, keyof Agreed> => ({
  implementationPlan,
  testPlan,
  backoutPlan,
  impact,
  successProbability,
})

/** Throws validation_failed naming each given field that differs from the template's value. */
function checkTemplateFields(fields: AgreedInput, own: Agreed): void {
  rejectDetails(
    agreedFields
      .filter((name) => fields[name] !== undefined && fields[name] !== own[name])
      .map((name) => ({
        in: 'body',
        path: `/${name}`,
        code: 'from_template',
        message: 'comes from the template of a standard change',
      })),
    'These fields of a standard change come from its template and cannot be edited.',
  )
}

type Planned = Pick<ChangeState, 'plannedStart' | 'plannedEnd' | 'ciIds'>

/**
 * Throws validation_failed if the change exceeds the limits of its template. For an edit, checks only altered
 * fields.
 */
function checkFit(
  change: Planned,
  { ciClasses, maxDurationMinutes }: ChangeTemplateState,
  agreed: TemplateAgreement | undefined,
  before?: Planned,
): void {
  const { plannedStart, plannedEnd, ciIds } = change
  const details: ErrorDetail[] = []
  const shifted = plannedStart !== before?.plannedStart || plannedEnd !== before?.plannedEnd
  const minutes =
    plannedStart && plannedEnd ? (Date.parse(plannedEnd) - Date.parse(plannedStart)) / 60_000 : 0
  if (shifted && maxDurationMinutes !== null && minutes > maxDurationMinutes)
    details.push({
      in: 'body',
      path: '/plannedEnd',
      code: 'too_long',
      message: `The template allows at most ${maxDurationMinutes} minutes.`,
    })
  for (const [index, id] of ciIds.entries()) {
    const itemClass = agreed?.classes.get(id)
    const kept = before?.ciIds.includes(id) || itemClass === undefined || ciClasses === null
    if (kept || ciClasses.includes(itemClass)) continue
    const message = `The template is for ${ciClasses.join(', ')}, and this is a ${itemClass}.`
    details.push({ in: 'body', path: `/ciIds/${index}`, code: 'wrong_class', message })
  }
  rejectDetails(details, 'The change exceeds the limits of its template.')
}

function rejectDetails(details: ErrorDetail[], message: string): void {
  if (details.length > 0) throw new ApiError('validation_failed', message, { details })
}
