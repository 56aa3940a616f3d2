import type { SlaEntityType } from '@opsplane/contracts'
import { changeEntity } from './change-entity.js'
import type { SlaEntity } from './entity.js'
import { incidentEntity } from './incident-entity.js'
import { problemEntity } from './problem-entity.js'
import { requestEntity } from './request-entity.js'

/** All kinds of entity that clocks measure. */
export const slaEntities: readonly SlaEntity[] = [incidentEntity, problemEntity, changeEntity, requestEntity]

export const findEntity = (type: SlaEntityType, among = slaEntities): SlaEntity | undefined =>
  among.find(({ entityType }) => entityType === type)
