import { z } from 'zod'
import { JsonValue } from '../core/json-value.js'
import { Environment } from '../core/principal.js'
import { Component, PageSlug } from './app-components.js'

/**
 * What a browser asks of a deployed app. The shell is at `{origin}/apps/:workspace/:slug`, pages below it at `/:page`;
 * `/definition`, `/data` and `/actions` below `/-/` take the token of a session, an API key or an embed as Bearer.
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

/** One answer holds what a page needs: each part has its own error instead of failing the page. */
export const AppDataRequest = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(100).meta({ description: "The browser's own, to find the answer by." }),
        source: z.string().min(1).max(50),
        params: z.record(z.string(), JsonValue).default({}),
        cursor: z.string().max(2_000).optional(),
      }),
    )
    .min(1)
    .max(50),
})
export type AppDataRequest = z.infer<typeof AppDataRequest>

export const AppDataAnswer = z.object({
  results: z.record(
    z.string(),
    z.union([
      z.object({
        rows: z
          .array(z.record(z.string(), z.unknown()))
          .nullable()
          .meta({ description: 'Of what has rows.' }),
        value: z.unknown().meta({ description: 'Of what has none.' }),
        nextCursor: z.string().nullable(),
      }),
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
    ]),
  ),
})
export type AppDataAnswer = z.infer<typeof AppDataAnswer>

export const AppActionRequest = z.strictObject({
  source: z.string().min(1).max(50),
  operation: z.enum(['get', 'create', 'update', 'delete']).optional(),
  id: z.string().max(100).optional(),
  params: z.record(z.string(), JsonValue).default({}),
  values: z.record(z.string(), JsonValue).optional(),
  version: z
    .int()
    .optional()
    .meta({ description: 'Of the record that is changed; refused where it has another by now.' }),
})
export type AppActionRequest = z.infer<typeof AppActionRequest>
export const AppActionAnswer = z.object({ value: z.unknown() })
export type AppActionAnswer = z.infer<typeof AppActionAnswer>
