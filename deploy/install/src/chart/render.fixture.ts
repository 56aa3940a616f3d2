import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { chart, kubernetes, run } from './chart-tools.fixture.js'

const Manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
})
export type Manifest = z.infer<typeof Manifest>

/** Renders an example of the chart as release `opsplane` in namespace `ops`; `more` are additional helm arguments. */
export const template = (helm: string, example: string, ...more: string[]) =>
  run(helm, [
    ...['template', 'opsplane', chart, '--namespace', 'ops', '--kube-version', kubernetes.version],
    ...['--values', join(chart, 'examples', example), ...more],
  ])

/** The rendered manifests as objects. Throws helm's output if it refuses. */
export function manifests(helm: string, example: string, ...more: string[]): Manifest[] {
  const { status, output, stdout } = template(helm, example, ...more)
  if (status !== 0) throw new Error(output)
  return parseAllDocuments(stdout).flatMap((document) => {
    const value: unknown = document.toJS()
    return value === null ? [] : [Manifest.parse(value)]
  })
}

/** The notes helm prints after the example is installed, which `helm template` leaves out. */
export function notes(helm: string, example: string, ...more: string[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'opsplane-notes-'))
  try {
    cpSync(chart, copy, { recursive: true })
    const text = readFileSync(join(chart, 'templates/NOTES.txt'), 'utf8')
    const asManifest = `{{- define "notes" -}}${text}{{- end -}}\ntext: {{ include "notes" . | quote }}\n`
    writeFileSync(join(copy, 'templates/notes.yaml'), asManifest)
    const args = ['--kube-version', kubernetes.version, '--values', join(copy, 'examples', example), ...more]
    const { status, output, stdout } = run(helm, [
      ...['template', 'opsplane', copy, '--namespace', 'ops', '--show-only', 'templates/notes.yaml', ...args],
    ])
    if (status !== 0) throw new Error(output)
    return z.object({ text: z.string() }).parse(parseAllDocuments(stdout)[0]?.toJS()).text
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
