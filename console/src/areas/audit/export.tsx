import { Button, Tooltip } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { exportAudit } from '../../api/audit-queries.js'
import type { EventFilters } from '../../api/queries.js'
import { Icon } from '../../patterns/icons.js'
import { Refusal } from '../../patterns/refusal.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.audit

/** Downloads all events that match the filters as a file. */
export function Export({ filters }: { filters: EventFilters }) {
  const { place } = usePlace()
  const save = useMutation({
    mutationFn: () => exportAudit(place, filters),
    onSuccess: (lines) => saveAs(lines, `audit-${place.workspace}-${place.environment}.ndjson`),
  })
  return (
    <>
      <Refusal error={save.error} />
      <Tooltip label={words.exportHint}>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" />}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {words.export}
        </Button>
      </Tooltip>
    </>
  )
}

function saveAs(content: Blob, name: string): void {
  const href = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
  URL.revokeObjectURL(href)
}
