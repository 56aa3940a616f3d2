import { Button, Popover } from '@mantine/core'
import { memo } from 'react'
import { formatCurl, type ShownRequest } from '../api/curl.js'
import { usePlace } from '../place/context.js'
import { texts } from '../texts/en.js'
import { Copy } from './copy.js'
import { Icon } from './icons.js'

/** The request behind a page as a curl command. Pages create the request object at each render, so it is compared by value. */
export const AsCurl = memo(
  AsCurlView,
  (before, after) => JSON.stringify(before.request) === JSON.stringify(after.request),
)

function AsCurlView({ request }: { request: ShownRequest }) {
  const { place } = usePlace()
  const command = formatCurl(location.origin, place, request)
  return (
    <Popover position="bottom-end" width={520} trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<Icon name="terminal" />}
          className="curl-button"
          aria-label={texts.common.curl}
        >
          <span className="curl-label">{texts.common.curl}</span>
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="curl">
        <p className="muted small">{texts.common.curlHelp}</p>
        <div className="empty-command">
          <pre>{command}</pre>
          <Copy text={command} />
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

/** The curl command for the next step on an empty page. */
export const useCommand = (request: ShownRequest): string =>
  formatCurl(location.origin, usePlace().place, request)
