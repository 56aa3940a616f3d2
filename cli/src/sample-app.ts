import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import type { Api } from './api.js'
import { formatPath } from './connect.js'
import { ApiFailure, CliError, usageError } from './failure.js'

const folder = new URL('../../services/apps/samples/', import.meta.url)

const Named = z.looseObject({ name: z.string() })
/** The definition of an app. The API validates its content. */
const SampleApp = z.strictObject({
  app: z.looseObject({ slug: z.string(), name: z.string() }),
  tables: z.array(z.looseObject({ slug: z.string() })),
  workflows: z.array(Named),
  sources: z.array(Named),
  pages: z.array(z.looseObject({ slug: z.string() })),
})
export type SampleApp = z.infer<typeof SampleApp>

export const listSampleNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => basename(file, '.json'))

/** Throws CliError if there is no sample with that name. */
export function readSample(name: string): SampleApp {
  const names = listSampleNames()
  if (!names.includes(name))
    throw usageError(`There is no sample app ${name}. There are ${names.join(', ')}.`)
  return SampleApp.parse(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')))
}

const Identified = z.object({ id: z.string() })
const Workflow = z.object({ id: z.string(), name: z.string() })
const Draft = z.object({ id: z.string(), problems: z.array(z.object({ message: z.string() })) })
const Deployed = z.object({ id: z.string(), number: z.int() })

export interface InstallOptions {
  /** Replaces the slug of the sample. */
  slug: string | undefined
  embeddable: boolean
  say(text: string): void
}

export interface InstalledApp {
  id: string
  slug: string
  deployment: number
}

/**
 * Creates and deploys an app with the tables and workflows it needs; existing ones are reused. Throws ApiFailure, for
 * example if an app with that slug exists.
 */
export async function installSample(
  api: Api,
  { app, tables, workflows, sources, pages }: SampleApp,
  { slug = app.slug, embeddable, say }: InstallOptions,
): Promise<InstalledApp> {
  for (const table of tables) await ensureTable(api, table, say)
  for (const workflow of workflows) await ensureWorkflow(api, workflow, say)
  const { id } = await api.one(Identified, { method: 'POST', path: '/apps', body: { ...app, slug } })
  const add = (kind: string, body: object) =>
    api.one(Identified, { method: 'POST', path: `${formatPath`/apps/${id}`}/${kind}`, body })
  for (const source of sources) await add('data-sources', source)
  for (const page of pages) await add('pages', page)
  const body = { note: 'Installed as a sample', embeddable }
  const { number } = await api.one(Deployed, { method: 'POST', path: formatPath`/apps/${id}/deploy`, body })
  return { id, slug, deployment: number }
}

async function ensureTable(api: Api, table: SampleApp['tables'][number], report: InstallOptions['say']) {
  try {
    await api.one(Identified, { path: formatPath`/tables/${table.slug}` })
    report(`The table ${table.slug} is there already.`)
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== 'not_found') throw error
    await api.one(Identified, { method: 'POST', path: '/tables', body: table })
  }
}

async function ensureWorkflow(
  api: Api,
  workflow: SampleApp['workflows'][number],
  report: InstallOptions['say'],
) {
  for await (const page of api.pages(Workflow, { path: '/workflows' })) {
    if (page.some(({ name }) => name === workflow.name)) {
      report(`The workflow ${workflow.name} is there already.`)
      return
    }
  }
  const { id, problems } = await api.one(Draft, { method: 'POST', path: '/workflows', body: workflow })
  const [problem] = problems
  if (problem) throw new CliError(`The workflow ${workflow.name} cannot be published: ${problem.message}`, 1)
  await api.one(Identified, {
    method: 'POST',
    path: formatPath`/workflows/${id}/publish`,
    body: { activate: true },
  })
}
