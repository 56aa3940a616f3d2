import { Link } from '@tanstack/react-router'
import { Empty } from '../patterns/problem.js'
import { texts } from '../texts/en.js'

export function NotFound() {
  return (
    <main className="alone">
      <Empty title={texts.shell.notFound} help={texts.shell.notFoundHelp}>
        <Link to="/" className="link">
          {texts.shell.home}
        </Link>
      </Empty>
    </main>
  )
}

export function NoWorkspace() {
  return (
    <main className="alone">
      <Empty title={texts.shell.noWorkspace} help={texts.shell.noWorkspaceHelp} />
    </main>
  )
}
