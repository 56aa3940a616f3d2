import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createApi } from '../../api/api.js'
import { Confirm } from '../../patterns/confirm.js'
import { Problem } from '../../patterns/problem.js'
import { Time } from '../../patterns/time.js'
import { AddFactor, type FactorKind } from '../../proof/add-factor.js'
import { RecoveryCodes } from '../../proof/recovery-codes.js'
import { Refusal } from '../../proof/refusal.js'
import { hasPasskeys } from '../../proof/webauthn.js'
import { texts } from '../../texts/en.js'
import { Section } from './frame.js'
import { factorsQuery, sessionsQuery } from './queries.js'

const words = texts.account

/** Second factors and recovery codes: add, remove, regenerate. */
export function Factors() {
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery(factorsQuery)
  const [adding, setAdding] = useState<FactorKind>()
  const settle = () =>
    Promise.all([factorsQuery, sessionsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })))
  const remove = useMutation({
    mutationFn: (id: string) => createApi().delete('/auth/factors/{id}', { params: { path: { id } } }),
    onSettled: settle,
  })
  if (data === undefined)
    return (
      <Section title={words.factors}>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
      </Section>
    )
  const { factors, recoveryCodesLeft, passkeys } = data
  const done = () => {
    setAdding(undefined)
    void settle()
  }
  const isLast = factors.length === 1
  const why = passkeys.reason ?? (hasPasskeys() ? undefined : texts.proof.noPasskeys)
  return (
    <>
      <Section title={words.factors} help={factors.length === 0 ? words.noFactors : words.factorsHelp}>
        <ul className="things">
          {factors.map(({ id, name, kind, lastUsedAt }) => (
            <li key={id} className="thing">
              <span className="grow">
                <strong dir="auto">{name}</strong>
                <span className="muted"> {words.kinds[kind]}</span>
                <span className="small muted block">
                  {lastUsedAt === null ? (
                    words.neverUsed
                  ) : (
                    <>
                      {words.used} <Time at={lastUsedAt} />
                    </>
                  )}
                </span>
              </span>
              <Confirm
                label={words.remove}
                question={`${words.removeAsk(name)}${isLast ? ` ${words.removeLast}` : ''}`}
                isBusy={remove.isPending && remove.variables === id}
                onConfirm={() => remove.mutate(id)}
              />
            </li>
          ))}
        </ul>
        <Refusal error={remove.error} />
        {adding === undefined ? (
          <span className="row wrap">
            <Button size="xs" variant="default" onClick={() => setAdding('totp')}>
              {words.addTotp}
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={why !== undefined}
              onClick={() => setAdding('passkey')}
            >
              {words.addPasskey}
            </Button>
            {why !== undefined && <span className="small muted">{why}</span>}
          </span>
        ) : (
          <div className="setting-form">
            <AddFactor
              kind={adding}
              passkeys={passkeys.available}
              hasCodes={recoveryCodesLeft > 0}
              onDone={done}
            />
            <Button size="xs" variant="subtle" color="gray" onClick={done}>
              {texts.common.cancel}
            </Button>
          </div>
        )}
      </Section>
      {factors.length > 0 && <Recovery left={recoveryCodesLeft} onChanged={() => void settle()} />}
    </>
  )
}

function Recovery({ left, onChanged }: { left: number; onChanged(): void }) {
  const make = useMutation({
    mutationFn: () => createApi().post('/auth/recovery-codes'),
    onSuccess: onChanged,
  })
  return (
    <Section title={words.recovery} help={`${words.codesLeft(left)} ${words.renewHelp}`}>
      {make.data ? (
        <div className="setting-form">
          <RecoveryCodes codes={make.data.data.codes} onKept={() => make.reset()} />
        </div>
      ) : (
        <span>
          <Button size="xs" variant="default" loading={make.isPending} onClick={() => make.mutate()}>
            {left === 0 ? words.make : words.renew}
          </Button>
        </span>
      )}
      <Refusal error={make.error} />
    </Section>
  )
}
