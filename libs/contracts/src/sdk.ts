import { z } from 'zod'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { idSchema } from './ids.js'

const At = z.iso.datetime({ precision: 3 })

/** Packs of artifacts that people install. */
export const PackState = z.object({
  id: idSchema('pack'),
  name: z.string().trim().min(1).max(200),
  createdAt: At,
  updatedAt: At,
})
export type PackState = z.infer<typeof PackState>

export const sdkEvents = {
  'pack.installed': resourceEvent(PackState, 'A pack was installed.'),
} satisfies Record<string, EventDefinition>
