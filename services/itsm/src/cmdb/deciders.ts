import { ciClass } from './class-domain.js'
import { configurationItem } from './item-domain.js'
import { ciRelation } from './relation-domain.js'

/** Every kind of aggregate of the CMDB. */
export const cmdbDeciders = [configurationItem, ciRelation, ciClass]
