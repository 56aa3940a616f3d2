import { z } from 'zod'
import { permissions } from './permissions.js'

export const PermissionName = z.enum(permissions).meta({ id: 'Permission' })
