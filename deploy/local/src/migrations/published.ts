import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const listOf = (root: string) => join(root, 'deploy/local/published-migrations.json')

/** Hash of the text of each platform migration below `root`, by path. */
export function migrationHashes(root: string): Record<string, string> {
  const folders = ['services', 'libs'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}/migrations`),
  )
  const paths = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((file) => `${folder}/${file}`))
    .filter((path) => path.endsWith('.sql'))
  return Object.fromEntries(paths.sort().map((path) => [path, hashOf(readFileSync(join(root, path)))]))
}

/** Same as `migrationHashes`, for the migrations that databases may have run. */
export const publishedMigrations = (root: string): Record<string, string> =>
  JSON.parse(readFileSync(listOf(root), 'utf8')) as Record<string, string>

/** Records all existing migrations as published: none of them may change afterwards. */
export function publishMigrations(root: string): void {
  const all = { ...migrationHashes(root), ...publishedMigrations(root) }
  writeFileSync(listOf(root), `${JSON.stringify(all, null, 2)}\n`)
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
