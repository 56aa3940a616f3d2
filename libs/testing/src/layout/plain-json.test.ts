import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { sourcesBelow } from './imports.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * JSON parsed without `parseExact`, which rounds numbers with more digits than a double.
 * Stream messages are parsed exactly.
 */
const plain = /\bJSON\s*\.parse\(|(?<!\bmessage)\.json\(\)|\bjson\b[^}]*\} from 'node:stream\/consumers'/

/** Every file that parses JSON this way, with the reason why no tenant's value is changed by it. */
const allowed: Readonly<Record<string, string>> = {
  'cli/src/commands/audit.ts': 'A checkpoint that the CLI wrote: positions and hashes.',
  'cli/src/profiles.ts': 'Profiles that the CLI wrote: texts.',
  'cli/src/sample-app.ts': 'A file of the package.',
  'client/src/generator/document.ts': 'The OpenAPI document.',
  'client/src/retry.ts': 'The envelope of an error, of which the code decides.',
  'libs/contracts/src/json/exact-json.ts': 'The exact reader itself, for text without such a number.',
  'libs/nats/src/embedded.ts': 'A claim of the local run: the id of a process.',
  'libs/postgres/src/embedded-binaries.ts': 'A file of a package.',
  'libs/postgres/src/schedules/store.ts': 'Schedules, whose numbers are bounded.',
  'libs/postgres/src/schedules/worker.ts': 'Schedules, whose numbers are bounded.',
  'libs/runtime/src/config.ts': 'Variables of the environment.',
  'libs/runtime/src/cursor.ts': 'Cursors, whose values are texts.',
  'libs/runtime/src/directory-claim.ts': 'A claim of a folder: the id of a process.',
  'libs/sandbox/src/child/request.ts': 'Written by the parent process, which marks exact numbers.',
  'libs/sandbox/src/code/child/invocation.ts': 'What JavaScript code has made of doubles.',
  'libs/sandbox/src/code/compile/main.ts': 'Sources and names.',
  'libs/sandbox/src/code/compile/messages.ts': 'Sources and names.',
  'libs/sandbox/src/code/compile/syntax.ts': 'A source map.',
  'libs/sandbox/src/code/run-outcomes.ts': 'What JavaScript code has made of doubles.',
  'libs/sandbox/src/code/host-calls.ts': 'What JavaScript code has made of doubles.',
  'libs/sandbox/src/code/packet.ts': 'The header of a packet: its values follow as text.',
  'libs/sandbox/src/code/stack.ts': 'A source map.',
  'libs/sandbox/src/messages.ts': 'The frame of an answer, in which results are texts.',
  'services/analytics/src/format/parquet-state.ts': 'Offsets and statistics of a file that is being written.',
  'libs/http/src/documents/built-assets.ts': 'A file of the package.',
  'libs/http/src/links/link-server.ts': 'The address and headers of a request.',
  'services/apps/web/src/expression/jsonata.ts': 'What JSONata has made of doubles.',
  'services/apps/web/src/page/drafts.ts': 'Drafts that the page wrote, in which such numbers are texts.',
  'services/dispatcher/src/catalog/asyncapi.ts': 'JSON Schemas of the catalogue.',
  'services/gateway/src/links/links.ts': 'Status, address and headers.',
  'services/gateway/src/openapi.ts': 'OpenAPI documents of the services.',
  'services/gateway/src/readiness.ts': 'Reports of readiness.',
  'services/integrations/src/kind/oauth2.ts':
    'The answer of a token endpoint: texts and a number of seconds.',
  'services/integrations/src/kind/openapi-document.ts': 'An OpenAPI document, of which schemas are shown.',
  'services/integrations/src/kind/slack.ts':
    'The answer of Slack: whether it worked, and ids, which are texts.',
  'services/itsm/src/cmdb/columns.ts': 'Lists of texts.',
  'services/itsm/src/cmdb/impact/impact-graph-in-memory.ts': 'Settings, whose numbers are bounded.',
  'services/itsm/src/knowledge/embedding/embedded-model.ts': 'Vectors, which are doubles.',
  'services/itsm/src/knowledge/embedding/embedder.ts': 'Vectors, which are doubles.',
  'services/itsm/src/knowledge/search/analysis.ts': 'Words of a search.',
  'services/itsm/src/knowledge/search/hits.ts': 'Articles, which have no numbers of their authors.',
  'services/itsm/src/knowledge/search/nearest-vectors.ts': 'Tags, which are texts.',
  'services/itsm/src/relevance/relevance-set.ts': 'A file of the package.',
  'services/settings/src/mail/compose.ts': 'A sealed mail: texts.',
  'services/settings/src/provider/flow.ts': 'A sealed sign-in: texts.',
}

test.each([
  ['JSON.parse(text)', true],
  ['JSON\n  .parse(text)', true],
  ['await response.json()', true],
  ['await response.body.json()', true],
  ["import { json } from 'node:stream/consumers'", true],
  ['message.json()', false],
  ['parseExact(text)', false],
])('%j parses JSON inexactly: %s', (source, is) => {
  expect(plain.test(source)).toBe(is)
})

test('JSON with tenant values is parsed exactly', () => {
  const sources = ['libs', 'services', 'cli/src', 'client/src'].flatMap((folder) =>
    sourcesBelow(`${root}${folder}`).map((file) => `${folder}/${file}`),
  )
  const found = sources.filter((path) => /\/src\//.test(path) && plain.test(code(path)))
  expect(found.sort()).toEqual(Object.keys(allowed).sort())
})

/** Without comments, which may mention it. */
const code = (path: string) =>
  readFileSync(`${root}${path}`, 'utf8').replaceAll(/^\s*(?:\/\*|\*|\/\/).*$/gm, '')
