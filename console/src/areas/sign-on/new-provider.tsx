import { useNavigate } from '@tanstack/react-router'
import { createApi } from '../../api/api.js'
import { DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { useChange } from '../people/form.js'
import { type ProviderBody, ProviderForm } from './provider-form.js'

const words = texts.people.signOn

/** Connects an identity provider, then shows the addresses to register with it. */
export function NewProvider() {
  const { place } = usePlace()
  const navigate = useNavigate()
  const create = useChange((body: ProviderBody) =>
    createApi(place).post('/settings/identity-providers', { body }),
  )
  const save = (body: ProviderBody, clear: () => void) =>
    create.mutate(body, {
      onSuccess: ({ data: { id } }) => {
        clear()
        void navigate({
          to: '/w/$workspace/$environment/people/sign-on/$providerId',
          params: { ...place, providerId: id },
        })
      },
    })
  return (
    <>
      <DetailHead
        title={words.createTitle}
        closed={{ to: '/w/$workspace/$environment/people/sign-on', params: place }}
      />
      <div className="detail-body panel">
        <ProviderForm provider={undefined} label={words.create} change={create} onSave={save} />
      </div>
    </>
  )
}
