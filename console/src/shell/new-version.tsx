import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ownScript, versionQuery } from '../api/version.js'
import { texts } from '../texts/en.js'

/** Announces that the platform serves another build than this page's. The new build is loaded only on request. */
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
