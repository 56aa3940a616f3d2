import {
  type ChangeTemplatePatch,
  type ChangeTemplateState,
  changedFields,
  type Decider,
  type Instant,
  type NewChangeTemplate,
  notFound,
} from '@opsplane/contracts'
import { applyPatch } from '../patch.js'

export type ChangeTemplateCommand =
  | { kind: 'create'; id: string; input: NewChangeTemplate; now: Instant }
  | { kind: 'patch'; patch: ChangeTemplatePatch; now: Instant }
  | { kind: 'delete' }

/** Template of standard changes. A change copies the template's fields when it is submitted and keeps them. */
export const changeTemplate: Decider<ChangeTemplateState, ChangeTemplateCommand> = {
  resourceType: 'change_template',
  table: 'change_templates',
  decide: (command, state) => {
    if (command.kind === 'create') {
      const { id, input, now } = command
      const after = { id, ...input, createdAt: now, updatedAt: now }
      return [{ type: 'change_template.created', after }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'change_template.deleted', after: null }]
    const wanted = applyPatch(state, command.patch)
    if (changedFields(state, wanted).length === 0) return []
    return [{ type: 'change_template.updated', after: { ...wanted, updatedAt: command.now } }]
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}
