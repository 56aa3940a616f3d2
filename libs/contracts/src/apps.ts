import { z } from 'zod'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { idSchema } from './ids.js'

const At = z.iso.datetime({ precision: 3 })

/** An app that people build of pages and data sources. */
export const AppState = z.object({
  id: idSchema('app'),
  name: z.string().trim().min(1).max(200),
  createdAt: At,
  updatedAt: At,
})
export type AppState = z.infer<typeof AppState>

export const appsEvents = {
  'app.created': resourceEvent(AppState, 'An app was made.'),
} satisfies Record<string, EventDefinition>
