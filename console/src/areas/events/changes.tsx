import { stringifyExact } from '@opsplane/client'
import type { AuditEvent } from '../../api/api.js'
import { type Difference, differences, withoutExtras } from '../../format/differences.js'
import { Code } from '../../patterns/json.js'
import { texts } from '../../texts/en.js'

const words = texts.events

/** What the resource was before and is after, field by field; and what else the event says. */
export function Changes({ event: { data } }: { event: AuditEvent }) {
  const { before, after, changes: _, version: __, ...extras } = data
  const different = worthShowing(differences(before, withoutExtras(after, before, extras))).filter(
    // Of what was made or is gone, only what it has.
    ({ before: was, after: is }) => (before !== null && after !== null) || (was ?? is) !== 'null',
  )
  const isAlone = before === null || after === null
  const title = before === null ? words.created : after === null ? words.deleted : undefined
  return (
    <>
      {different.length === 0 ? (
        <p className="muted detail-nothing">{words.unchanged}</p>
      ) : (
        <table className="changes">
          {title !== undefined && <caption>{title}</caption>}
          <thead>
            <tr>
              <th scope="col">{words.field}</th>
              {before !== null && <th scope="col">{isAlone ? words.value : words.before}</th>}
              {after !== null && <th scope="col">{isAlone ? words.value : words.after}</th>}
            </tr>
          </thead>
          <tbody>
            {different.map(({ path, before: was, after: is }) => (
              <tr key={path}>
                <th scope="row">{path}</th>
                {before !== null && (
                  <td>
                    <Value text={was} as={after === null ? 'code' : 'del'} />
                  </td>
                )}
                {after !== null && (
                  <td>
                    <Value text={is} as={before === null ? 'code' : 'ins'} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {Object.keys(extras).length > 0 && (
        <section className="extras">
          <h3 className="section-head">{words.extras}</h3>
          <Code text={stringifyExact(extras)} label={words.extras} />
        </section>
      )}
    </>
  )
}

/** What every change changes says nothing of this one; alone it is shown. */
const withEveryChange = new Set(['version', 'updatedAt', 'updated_at'])
function worthShowing(all: readonly Difference[]): readonly Difference[] {
  const some = all.filter(({ path }) => !withEveryChange.has(path))
  return some.length > 0 ? some : all.filter(({ path }) => path !== 'version')
}

interface ValueProps {
  text: string | undefined
  /** Removed, added, or with nothing to compare it with. */
  as: 'del' | 'ins' | 'code'
}

function Value({ text, as: Mark }: ValueProps) {
  if (text === undefined || text === 'null') return <span className="muted">{words.notSet}</span>
  const code = <code>{readable(text)}</code>
  return Mark === 'code' ? code : <Mark>{code}</Mark>
}

/** A string without its quotes: text is shown as it was written. */
function readable(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
