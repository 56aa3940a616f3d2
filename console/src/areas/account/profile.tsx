import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { createApi, type Me } from '../../api/api.js'
import { Facts } from '../../patterns/page.js'
import { ExactTime } from '../../patterns/time.js'
import { Refusal } from '../../proof/refusal.js'
import { texts } from '../../texts/en.js'
import { Section } from './frame.js'

const words = texts.account

export function Profile({ user: { name, email, addressProvenAt, createdAt } }: { user: Me['user'] }) {
  const proof = useMutation({ mutationFn: () => createApi().post('/auth/address/prove') })
  const isProven = addressProvenAt !== null
  return (
    <Section title={words.profile}>
      <Facts
        facts={[
          [
            words.name,
            <span key="name" dir="auto">
              {name}
            </span>,
          ],
          [
            words.email,
            <span key="email" className="row">
              <span className="ellipsis">{email}</span>
              <span className={isProven ? 'state-good' : 'state-warn'}>
                {isProven ? words.proven : words.unproven}
              </span>
              {!isProven && (
                <Button size="xs" variant="default" loading={proof.isPending} onClick={() => proof.mutate()}>
                  {words.prove}
                </Button>
              )}
            </span>,
          ],
          [words.since, <ExactTime key="since" at={createdAt} />],
        ]}
      />
      {proof.isSuccess && <p role="status">{words.proofSent}</p>}
      <Refusal error={proof.error} words={{ no_mail_server: texts.signIn.reset.noMail }} />
    </Section>
  )
}
