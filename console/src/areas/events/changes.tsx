import { stringifyExact } from '@opsplane/client'
import type { AuditEvent } from '../../api/api.js'
import { type Difference, differences, withoutExtras } from '../../format/differences.js'
import { Code } from '../../patterns/json.js'
import { texts } from '../../texts/en.js'

const words = texts.events

/** The resource before and after the event, field by field, and other data of the event. */
export function Changes({ event: { data } }: { event: AuditEvent }) {
  const { before, after, changes: _, version: __, ...extras } = data
  const different = worthShowing(differences(before, withoutExtras(after, before, extras))).filter(
    // For a created or deleted resource, only fields with a value.
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

/** Fields that every change updates are hidden, unless no other field changed; `version` is always hidden. */
const withEveryChange = new Set(['version', 'updatedAt', 'updated_at'])
function worthShowing(all: readonly Difference[]): readonly Difference[] {
  const some = all.filter(({ path }) => !withEveryChange.has(path))
  return some.length > 0 ? some : all.filter(({ path }) => path !== 'version')
}

interface ValueProps {
  text: string | undefined
  /** Removed, added, or without a counterpart to compare with. */
  as: 'del' | 'ins' | 'code'
}

function Value({ text, as: Mark }: ValueProps) {
  if (text === undefined || text === 'null') return <span className="muted">{words.notSet}</span>
  const code = <code>{readable(text)}</code>
  return Mark === 'code' ? code : <Mark>{code}</Mark>
}

/** Removes the quotes of a JSON string, so that text is shown as it was written. */
function readable(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
