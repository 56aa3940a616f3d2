import { DeadLetter } from '../core/platform.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'

/** Actions of the installation's operators on a workspace, or on data that belongs to none. */
export const operatorEvents = {
  'dead_letter.redriven': resourceEvent(
    DeadLetter,
    'An operator of the installation has handed an event or message to a consumer again that had given it up. In the workspace and ' +
      'environment it is of; of none, in no workspace.',
  ),
  'dead_letter.dropped': resourceEvent(
    DeadLetter,
    'An operator of the installation has deleted an event or message that a consumer had given up: what it is about is not done.',
  ),
} satisfies Record<string, EventDefinition>
