import { z } from 'zod'
import type { Settings } from '../settings.fixture.js'

const methods = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ responses: z.record(z.string(), z.object({ description: z.string() })) }),
    ),
  ),
})

export interface StepUpOperation {
  method: z.infer<typeof methods>
  /** Path with `absent` for each parameter. */
  path: string
}

/** Every operation of settings that requires a step-up, according to its OpenAPI document. */
export async function stepUpOperations({ internal }: Pick<Settings, 'internal'>): Promise<StepUpOperation[]> {
  const { paths } = Document.parse(JSON.parse((await internal.get('/internal/openapi.json')).text))
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      responses['403']?.description.includes('`step_up_required`')
        ? [{ method: methods.parse(method.toUpperCase()), path: path.replaceAll(/\{\w+\}/g, 'absent') }]
        : [],
    ),
  )
}
