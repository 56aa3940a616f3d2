import type { ChangeEventType } from '@opsplane/contracts'
import type { ChangeRecord } from './approval/separation-of-duties.js'

export interface ChangeDecision {
  type: ChangeEventType
  after: ChangeRecord
  extras?: Record<string, unknown>
}
