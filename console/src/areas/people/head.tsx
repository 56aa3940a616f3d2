import { Button } from '@mantine/core'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ShownRequest } from '../../api/curl.js'
import { Icon } from '../../patterns/icons.js'
import { PageHead, SubPages } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.people

/** The pages about people, each with the permission it requires. */
export const peoplePages = [
  { name: 'users', to: '/w/$workspace/$environment/people/users', needs: 'users:read' },
  { name: 'roles', to: '/w/$workspace/$environment/people/roles', needs: 'roles:read' },
  { name: 'keys', to: '/w/$workspace/$environment/people/keys', needs: 'tokens:manage' },
  { name: 'secrets', to: '/w/$workspace/$environment/people/secrets', needs: 'secrets:read' },
  { name: 'signOn', to: '/w/$workspace/$environment/people/sign-on', needs: 'workspace:read' },
] as const

/** Title, links to the other pages of the area, and actions. */
export function PeopleHead({ request, children }: { request: ShownRequest; children?: ReactNode }) {
  const { place, may } = usePlace()
  return (
    <>
      <PageHead title={words.title} request={request}>
        {children}
      </PageHead>
      <SubPages
        label={words.title}
        pages={peoplePages
          .filter(({ needs }) => may(needs))
          .map(({ name, to }) => ({ label: words.tabs[name], to, params: place }))}
      />
    </>
  )
}

/** Opens the form for a new item. */
export function NewButton({ label, form }: { label: string; form: LinkProps }) {
  const navigate = useNavigate()
  return (
    <Button size="xs" leftSection={<Icon name="add" />} onClick={() => void navigate(form)}>
      {label}
    </Button>
  )
}
