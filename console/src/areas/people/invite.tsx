import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { useDraft } from '../../patterns/draft.js'
import { Once } from '../../patterns/one-time-value.js'
import { DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { Field } from '../../proof/fields.js'
import { texts } from '../../texts/en.js'
import { Choice, SubmitForm, useChange } from './form.js'
import { rolesQuery } from './queries.js'

const words = texts.people.users
const durations = [1, 3, 7, 30]

/** Invites a person by e-mail address; without a mail server, shows the link so that it can be sent by other means. */
export function Invite() {
  const { place, may } = usePlace()
  const { data: roles = [] } = useQuery(rolesQuery(place))
  const [draft, change, clear] = useDraft('invite', { email: '', name: '', role: 'viewer', days: 7 })
  const invite = useChange(() => {
    const { email, name, role, days } = draft
    const body = { email, role, expiresInHours: days * 24, ...(name.trim() !== '' && { name }) }
    return createApi(place).post('/settings/users/invite', { body })
  })
  const wrong = fieldErrors(invite.error)
  const invited = invite.data?.data
  const again = () => {
    clear()
    invite.reset()
  }
  return (
    <>
      <DetailHead
        title={words.inviteTitle}
        closed={{ to: '/w/$workspace/$environment/people/users', params: place, search: true }}
      />
      <div className="detail-body panel">
        {invited ? (
          <>
            <InvitationLink {...invited} />
            <span>
              <Button size="xs" variant="default" onClick={again}>
                {words.another}
              </Button>
            </span>
          </>
        ) : (
          <SubmitForm label={words.invite} change={invite} onSubmit={() => invite.mutate(undefined)}>
            <Field
              label={words.email}
              name="email"
              type="email"
              value={draft.email}
              error={wrong.email}
              required
              autoFocus
              onChange={({ currentTarget: { value } }) => change({ email: value })}
            />
            <Field
              label={texts.people.name}
              help={words.nameHelp}
              name="name"
              value={draft.name}
              error={wrong.name}
              maxLength={100}
              onChange={({ currentTarget: { value } }) => change({ name: value })}
            />
            <Choice
              label={words.role}
              value={draft.role}
              error={wrong.role}
              options={roles
                .filter(({ permissions }) => permissions.every(may))
                .map(({ name }) => [name, name])}
              onChange={(role) => change({ role })}
            />
            <Choice
              label={words.validFor}
              value={String(draft.days)}
              error={wrong.expiresInHours}
              options={durations.map((days) => [String(days), words.days(days)])}
              onChange={(days) => change({ days: Number(days) })}
            />
          </SubmitForm>
        )}
      </div>
    </>
  )
}

interface InvitationLinkProps {
  email: string
  invitation: { link: string | null; token: string | null; mailed: boolean }
}

/** The link of a new invitation. */
export function InvitationLink({ email, invitation: { link, token, mailed } }: InvitationLinkProps) {
  if (mailed) return <p role="status">{words.mailed(email)}</p>
  const shown = link ?? token
  return (
    <div role="status" className="panel-form">
      <p>{words.handOn(email)}</p>
      {link === null && <p className="muted">{words.handOnToken}</p>}
      {shown !== null && <Once text={shown} label={texts.common.copy} />}
      <p className="small muted">{texts.people.once}</p>
    </div>
  )
}
