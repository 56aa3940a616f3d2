import { secretsHeader } from '@opsplane/contracts'
import type { CallPlatform } from '@opsplane/http'
import { z } from 'zod'
import type { EffectCall } from './effect.js'

const Concealed = z.looseObject({ data: z.looseObject({ secrets: z.array(z.string()) }) })

/** Calls the platform for a step: the sdk says which secrets an execution has given, which are none of its output. */
export const withConcealedValues =
  (callPlatform: CallPlatform, { conceal }: Pick<EffectCall, 'conceal'>): CallPlatform =>
  async (caller, request) => {
    if (request.service !== 'sdk') return callPlatform(caller, request)
    const answer = await callPlatform(caller, { ...request, headers: { [secretsHeader]: 'true' } })
    const concealed = Concealed.safeParse(answer.body)
    if (!concealed.success) return answer
    const { secrets, ...data } = concealed.data.data
    conceal(secrets)
    return { ...answer, body: { ...concealed.data, data } }
  }
