import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ownScript, versionQuery } from '../api/version.js'
import { texts } from '../texts/en.js'

/** Says that the platform brings another build than this page is of. It is loaded on request only. */
export function NewVersion() {
  const { data } = useQuery(versionQuery)
  const own = ownScript(document)
  if (data === undefined || !own || data === own) return null
  return (
    <div className="new-version" role="status">
      <span>{texts.shell.newVersion}</span>
      <Button size="xs" variant="default" onClick={() => location.reload()}>
        {texts.shell.loadVersion}
      </Button>
    </div>
  )
}
