import { z } from 'zod'
import { Credentials, NewPassword } from './settings.js'

const MailedToken = z.string().min(1).max(500).meta({ description: 'As it was mailed.' })

export const PasswordChange = z
  .strictObject({ currentPassword: Credentials.shape.password, newPassword: NewPassword })
  .meta({
    id: 'PasswordChange',
    example: { currentPassword: 'correct horse battery', newPassword: 'correct horse battery staple' },
  })
export type PasswordChange = z.infer<typeof PasswordChange>

export const PasswordResetRequest = z
  .strictObject({ email: Credentials.shape.email })
  .meta({ id: 'PasswordResetRequest', example: { email: 'ada@example.com' } })
export type PasswordResetRequest = z.infer<typeof PasswordResetRequest>

export const PasswordReset = z.strictObject({ token: MailedToken, newPassword: NewPassword }).meta({
  id: 'PasswordReset',
  example: { token: 'ops_act_…', newPassword: 'correct horse battery staple' },
})
export type PasswordReset = z.infer<typeof PasswordReset>

export const AddressProof = z
  .strictObject({ token: MailedToken })
  .meta({ id: 'AddressProof', example: { token: 'ops_act_…' } })
export type AddressProof = z.infer<typeof AddressProof>
