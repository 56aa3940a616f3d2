import { z } from 'zod'
import { pageBounds } from '../core/page-bounds.js'
import { Environment } from '../core/principal.js'
import { JsonValue } from '../json/json-value.js'
import { Component, PageSlug } from './app-components.js'
import { AppNameReference, appBounds } from './app-names.js'

/**
 * Definition of a deployed app, as returned to the browser. The shell is at `{origin}/apps/:workspace/:slug`, pages at
 * `/:page` below it; `/definition`, `/data` and `/actions` below `/-/` accept the token of a session, an API key or an
 * embed as Bearer token.
 */
export const AppDefinition = z.object({
  app: z.object({ name: z.string(), slug: z.string(), environment: Environment, deployment: z.int() }),
  user: z.object({ id: z.string(), name: z.string(), email: z.string() }).nullable(),
  pages: z.array(
    z.object({
      slug: PageSlug,
      title: z.string(),
      inNavigation: z.boolean(),
      components: z.array(Component),
    }),
  ),
})
export type AppDefinition = z.infer<typeof AppDefinition>

/** Requests all data of a page in one call. Each part has its own error, so one failure does not fail the page. */
export const AppDataRequest = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        key: z
          .string()
          .min(1)
          .max(100)
          .meta({ description: 'Key chosen by the browser to identify the result.' }),
        source: AppNameReference,
        params: z.record(z.string(), JsonValue).default({}),
        cursor: z.string().max(pageBounds.cursor).optional(),
      }),
    )
    .min(1)
    .max(appBounds.parts),
})
export type AppDataRequest = z.infer<typeof AppDataRequest>

export const AppDataAnswer = z.object({
  deployment: z.int().meta({ description: 'Number of the deployment that produced the response.' }),
  results: z.record(
    z.string(),
    z.union([
      z.object({
        rows: z
          .array(z.record(z.string(), z.unknown()))
          .nullable()
          .meta({ description: 'Rows of the source, if it returns rows.' }),
        value: z.unknown().meta({ description: 'Value of the source, if it does not return rows.' }),
        nextCursor: z.string().nullable(),
      }),
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
    ]),
  ),
})
export type AppDataAnswer = z.infer<typeof AppDataAnswer>

export const AppActionRequest = z.strictObject({
  source: AppNameReference,
  operation: z.enum(['get', 'create', 'update', 'delete']).optional(),
  id: z.string().max(200).optional(),
  params: z.record(z.string(), JsonValue).default({}),
  values: z.record(z.string(), JsonValue).optional(),
  version: z.int().optional().meta({
    description:
      'Expected version of the record to change. The request is rejected if the record has another version.',
  }),
  deployment: z.int().min(0).optional().meta({
    description:
      'Number of the deployment to which the page belongs. The request is rejected if another deployment is live.',
  }),
})
export type AppActionRequest = z.infer<typeof AppActionRequest>
export const AppActionAnswer = z.object({ value: z.unknown() })
export type AppActionAnswer = z.infer<typeof AppActionAnswer>
