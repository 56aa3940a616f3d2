import {
  changedFields,
  type Decider,
  defaultMajorRules,
  defaultPriorityMatrix,
  type Instant,
  type ItsmSettingsPatch,
  type ItsmSettingsState,
  notFound,
} from '@opsplane/contracts'

export interface ItsmSettingsCommand {
  kind: 'patch'
  patch: ItsmSettingsPatch
  now: Instant
}

/** The settings of a tenant that has not changed any. */
export const defaultSettings = (id: string): ItsmSettingsState => ({
  id,
  priorityMatrix: defaultPriorityMatrix,
  autoCloseDays: 7,
  resolutionRequired: false,
  separationOfDuties: true,
  majorRules: [...defaultMajorRules],
  createdAt: null,
  updatedAt: null,
})

/** Settings of a tenant. They always exist: the first change applies to the defaults. */
export const itsmSettings: Decider<ItsmSettingsState, ItsmSettingsCommand> = {
  resourceType: 'itsm_settings',
  table: 'itsm_settings',
  decide: ({ patch, now }, state) => {
    if (state === null) throw notFound()
    const {
      priorityMatrix = state.priorityMatrix,
      autoCloseDays = state.autoCloseDays,
      resolutionRequired = state.resolutionRequired,
      separationOfDuties = state.separationOfDuties,
      majorRules = state.majorRules,
    } = patch
    const rules = { autoCloseDays, resolutionRequired, separationOfDuties, majorRules }
    const wanted = { ...state, priorityMatrix, ...rules }
    if (changedFields(state, wanted).length === 0) return []
    const after = { ...wanted, createdAt: state.createdAt ?? now, updatedAt: now }
    return [{ type: 'itsm_settings.updated', after }]
  },
  expose: (state) => state,
  describe: () => ({ displayName: 'ITSM settings' }),
}
