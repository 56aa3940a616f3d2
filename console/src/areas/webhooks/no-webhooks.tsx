import { apiPath } from '../../api/api.js'
import { useCommand } from '../../patterns/curl.js'
import { Empty } from '../../patterns/problem.js'
import { texts } from '../../texts/en.js'

const words = texts.webhooks

/** Explains what a webhook is for, and how to create one. */
export function NoWebhooks({ title = words.empty }: { title?: string }) {
  const command = useCommand({
    method: 'POST',
    path: `${apiPath}/webhooks`,
    body: { name: 'pager', url: 'https://pager.example.com/hooks', events: ['incident.*'] },
  })
  return <Empty title={title} help={words.emptyHelp} command={command} />
}
